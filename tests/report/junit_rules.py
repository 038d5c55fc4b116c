"""What a JUnit file has to be for Jenkins and Surefire: the rules of both schemas, written out, and their arithmetic.

Elements, their order and their attributes are those that `surefire-test-report.xsd` and `junit-10.xsd` (Jenkins' xUnit
plugin) both admit; the counts are what Jenkins adds up.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

__all__ = ["breaks", "parsed"]

_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")
_ATTRIBUTES = {
    "testsuites": (set[str](), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": ({"name", "tests", "errors", "skipped", "failures"}, {"group", "time"}),
    "properties": (set[str](), set[str]()),
    "property": ({"name", "value"}, set[str]()),
    "testcase": ({"name", "time"}, {"classname", "group"}),
    "failure": ({"type"}, {"message"}),
    "error": ({"type"}, {"message"}),
    "skipped": (set[str](), {"message"}),
    "system-out": (set[str](), set[str]()),
    "system-err": (set[str](), set[str]()),
}
_CHILDREN = {
    "testsuites": ("testsuite",),
    "testsuite": ("properties", "testcase"),
    "properties": ("property",),
    "testcase": ("failure", "skipped", "error", "system-out", "system-err"),
}
_ONCE = {"skipped", "error", "system-out", "system-err"}


def parsed(text: str) -> ET.Element:
    """The document's root; a strict XML 1.0 parser reads it."""
    return ET.fromstring(text.encode("utf-8"))  # noqa: S314 (written by the code under test)


def breaks(text: str) -> list[str]:
    """Every rule that a file breaks; none of a good one."""
    root = parsed(text)
    found = [] if root.tag == "testsuites" else [f"the root is {root.tag}"]
    for element in root.iter():
        found += _shape(element)
    for suite in root.iter("testsuite"):
        found += _counts(suite)
    return found


def _shape(element: ET.Element) -> list[str]:
    if element.tag not in _ATTRIBUTES:
        return [f"there is no element {element.tag}"]
    needed, allowed = _ATTRIBUTES[element.tag]
    names = set(element.attrib)
    found = [f"{element.tag} lacks {name}" for name in needed - names]
    found += [f"{element.tag} may have no {name}" for name in names - needed - allowed]
    if "time" in names and not _TIME.fullmatch(element.attrib["time"]):
        found.append(f"{element.attrib['time']} is no time")
    order = _CHILDREN.get(element.tag, ())
    tags = [child.tag for child in element]
    found += [f"{element.tag} may hold no {tag}" for tag in tags if tag not in order]
    places = [order.index(tag) for tag in tags if tag in order]
    if places != sorted(places):
        found.append(f"{element.tag} holds {', '.join(tags)} in another order")
    if element.tag == "testcase":
        found += [f"several {tag} in a testcase" for tag in _ONCE if tags.count(tag) > 1]
    if order and (element.text or "").strip():
        found.append(f"{element.tag} holds text")
    return found


def _counts(suite: ET.Element) -> list[str]:
    cases = suite.findall("testcase")
    counted = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    both = [case.attrib["name"] for case in cases if len(case.findall("failure")) + len(case.findall("error")) > 1]
    wrong = [
        f"{name} is {suite.attrib[name]}, there are {number}"
        for name, number in counted.items()
        if suite.attrib[name] != str(number)
    ]
    return wrong + [f"{name} counts twice" for name in both]
