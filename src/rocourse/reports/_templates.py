"""How pages are made from templates."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def template_environment() -> Environment:
    """Templates of this package; text is escaped, and a name that is missing is an error."""
    return Environment(
        loader=PackageLoader("rocourse.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
