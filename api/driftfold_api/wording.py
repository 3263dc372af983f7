"""Constraints in words: what an error says in place of a regular expression."""

from typing import Any

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError


def in_words(wanted: str) -> WrapValidator:
    """Return an annotation that tells in words what the constraints before it want.

    >>> from typing import Annotated
    >>> from pydantic import StringConstraints, TypeAdapter
    >>> Digit = Annotated[str, StringConstraints(pattern="^[0-9]$"), in_words("one digit")]
    >>> try:
    ...     TypeAdapter(Digit).validate_python("ten")
    ... except ValidationError as error:
    ...     print(error.errors()[0]["msg"])
    got 'ten', wanted one digit
    """

    def check(value: Any, constraints: ValidatorFunctionWrapHandler) -> Any:
        try:
            return constraints(value)
        except ValidationError:
            facts = {"got": repr(value)[:60], "wanted": wanted}
            raise PydanticCustomError("wording", "got {got}, wanted {wanted}", facts) from None

    return WrapValidator(check)
