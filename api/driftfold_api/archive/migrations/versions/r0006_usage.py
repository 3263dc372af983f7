"""What jobs have used up."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; of jobs that are there nothing is known."""
    for name in ("used_cpu", "used_wall"):
        op.add_column("jobs", sa.Column(name, sa.Double, nullable=False, server_default="0"))
