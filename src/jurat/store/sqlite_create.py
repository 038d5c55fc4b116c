"""The SQL that fills a new SQLite file: what all the numbered steps together come to, as SQLAlchemy writes it.

Tests hold it against the steps and the tables. A change here is a change of `jurat.store.tables` and a new step.
"""

from __future__ import annotations

__all__ = ["CREATE"]

CREATE = (
    """
    CREATE TABLE jurat_version (
        version_num VARCHAR(32) NOT NULL,
        CONSTRAINT jurat_version_pkc PRIMARY KEY (version_num)
    )
    """,
    """
    CREATE TABLE responses (
        "key" VARCHAR(64) NOT NULL,
        body BLOB NOT NULL,
        body_sha256 VARCHAR(64) NOT NULL,
        body_bytes INTEGER NOT NULL,
        latency_ms FLOAT NOT NULL,
        attempts INTEGER NOT NULL,
        request_id TEXT,
        created_at DATETIME NOT NULL,
        scope INTEGER,
        failed_attempts TEXT,
        CONSTRAINT pk_responses PRIMARY KEY ("key")
    )
    """,
    """
    CREATE TABLE runs (
        number INTEGER NOT NULL,
        id TEXT NOT NULL,
        suite TEXT NOT NULL,
        suite_hash TEXT NOT NULL,
        status VARCHAR(16) NOT NULL,
        created_at TEXT NOT NULL,
        finished_at TEXT,
        samples INTEGER NOT NULL,
        reducer TEXT NOT NULL,
        cases INTEGER NOT NULL,
        options TEXT NOT NULL,
        provenance TEXT NOT NULL,
        snapshots TEXT NOT NULL,
        parent TEXT,
        gate TEXT,
        CONSTRAINT pk_runs PRIMARY KEY (number),
        CONSTRAINT uq_runs_id UNIQUE (id)
    )
    """,
    """
    CREATE TABLE scopes (
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        CONSTRAINT pk_scopes PRIMARY KEY (number),
        CONSTRAINT uq_scopes_name UNIQUE (name)
    )
    """,
    """
    CREATE TABLE snapshots (
        hash VARCHAR(71) NOT NULL,
        kind VARCHAR(32) NOT NULL,
        body TEXT NOT NULL,
        CONSTRAINT pk_snapshots PRIMARY KEY (hash)
    )
    """,
    """
    CREATE TABLE cases (
        run INTEGER NOT NULL,
        case_index INTEGER NOT NULL,
        name TEXT NOT NULL,
        case_hash TEXT NOT NULL,
        labels TEXT NOT NULL,
        metadata TEXT NOT NULL,
        file TEXT,
        line INTEGER,
        status VARCHAR(16),
        CONSTRAINT pk_cases PRIMARY KEY (run, case_index),
        CONSTRAINT fk_cases_run FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE owners (
        run INTEGER NOT NULL,
        token VARCHAR(32) NOT NULL,
        machine TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        seen FLOAT NOT NULL,
        CONSTRAINT pk_owners PRIMARY KEY (run),
        CONSTRAINT fk_owners_run FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE run_calls (
        scope INTEGER NOT NULL,
        "key" VARCHAR(64) NOT NULL,
        CONSTRAINT pk_run_calls PRIMARY KEY (scope, "key"),
        CONSTRAINT fk_run_calls_scope FOREIGN KEY(scope) REFERENCES scopes (number) ON DELETE CASCADE
    )
        WITHOUT ROWID
    """,
    """
    CREATE TABLE withheld (
        "key" VARCHAR(64) NOT NULL,
        error_category VARCHAR(64) NOT NULL,
        error_message TEXT NOT NULL,
        input_tokens BIGINT,
        output_tokens BIGINT,
        cached_input_tokens BIGINT,
        cache_write_tokens BIGINT,
        reasoning_tokens BIGINT,
        cost_usd FLOAT,
        duration_ms FLOAT NOT NULL,
        attempts INTEGER NOT NULL,
        models TEXT NOT NULL,
        created_at DATETIME NOT NULL,
        failed_attempts TEXT,
        CONSTRAINT pk_withheld PRIMARY KEY ("key"),
        CONSTRAINT fk_withheld_key FOREIGN KEY("key") REFERENCES responses ("key") ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE trials (
        run INTEGER NOT NULL,
        case_index INTEGER NOT NULL,
        trial_index INTEGER NOT NULL,
        status VARCHAR(16) NOT NULL,
        assessments INTEGER NOT NULL,
        recorded BOOLEAN NOT NULL,
        error_category VARCHAR(64),
        error_message TEXT,
        paid TEXT,
        input_tokens BIGINT,
        output_tokens BIGINT,
        cached_input_tokens BIGINT,
        cache_write_tokens BIGINT,
        reasoning_tokens BIGINT,
        cost_usd FLOAT,
        duration_ms FLOAT NOT NULL,
        attempts INTEGER NOT NULL,
        cached BOOLEAN NOT NULL,
        models TEXT,
        seal VARCHAR(64),
        CONSTRAINT pk_trials PRIMARY KEY (run, case_index, trial_index),
        CONSTRAINT fk_trials_run FOREIGN KEY(run, case_index)
         REFERENCES cases (run, case_index) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE answers (
        run INTEGER NOT NULL,
        case_index INTEGER NOT NULL,
        trial_index INTEGER NOT NULL,
        output TEXT,
        rendered_input TEXT,
        messages TEXT,
        execution TEXT,
        CONSTRAINT pk_answers PRIMARY KEY (run, case_index, trial_index),
        CONSTRAINT fk_answers_run FOREIGN KEY(run, case_index, trial_index)
         REFERENCES trials (run, case_index, trial_index) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE assessments (
        run INTEGER NOT NULL,
        case_index INTEGER NOT NULL,
        trial_index INTEGER NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        status VARCHAR(16) NOT NULL,
        score FLOAT,
        weight FLOAT NOT NULL,
        required BOOLEAN NOT NULL,
        error_category VARCHAR(64),
        input_tokens BIGINT,
        output_tokens BIGINT,
        cached_input_tokens BIGINT,
        cache_write_tokens BIGINT,
        reasoning_tokens BIGINT,
        cost_usd FLOAT,
        duration_ms FLOAT NOT NULL,
        attempts INTEGER NOT NULL,
        cached BOOLEAN NOT NULL,
        models TEXT,
        result TEXT NOT NULL,
        CONSTRAINT pk_assessments PRIMARY KEY (run, case_index, trial_index, position),
        CONSTRAINT fk_assessments_run FOREIGN KEY(run, case_index, trial_index)
         REFERENCES trials (run, case_index, trial_index) ON DELETE CASCADE
    )
    """,
    """
    CREATE VIEW run_results AS
    SELECT r.id AS run_id, r.suite AS suite, c.case_index AS case_index, c.name AS case_name,
        a.trial_index AS trial_index, a.position AS position, a.name AS assertion, a.type AS type,
        a.status AS status, a.score AS score, a.weight AS weight, a.required AS required,
        a.error_category AS error_category, a.input_tokens AS input_tokens, a.output_tokens AS output_tokens,
        a.cost_usd AS cost_usd, a.duration_ms AS duration_ms, a.attempts AS attempts, a.cached AS cached,
        a.result AS result
    FROM runs r
    JOIN cases c ON c.run = r.number
    JOIN assessments a ON a.run = c.run AND a.case_index = c.case_index
    """,
    """
    CREATE VIEW run_trials AS
    SELECT r.id AS run_id, r.suite AS suite, c.case_index AS case_index, c.name AS case_name,
        c.status AS case_status, t.trial_index AS trial_index, t.status AS status,
        t.error_category AS error_category, t.input_tokens AS input_tokens, t.output_tokens AS output_tokens,
        t.cost_usd AS cost_usd, t.duration_ms AS duration_ms, t.attempts AS attempts, t.cached AS cached,
        b.output AS output
    FROM runs r
    JOIN cases c ON c.run = r.number
    JOIN trials t ON t.run = c.run AND t.case_index = c.case_index
    LEFT JOIN answers b ON b.run = t.run AND b.case_index = t.case_index AND b.trial_index = t.trial_index
    """,
)
