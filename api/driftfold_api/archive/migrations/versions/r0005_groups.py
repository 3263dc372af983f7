"""Groups of jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "groups",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("sweep", sa.Text, nullable=False),
        sa.Column("stop", sa.Text),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        sa.Column("ended", sa.Text, nullable=False),
        sa.Column("spared", sa.BigInteger, nullable=False),
    )
    op.create_index("groups_open", "groups", ["open", "id"])
    op.create_table(
        "children",
        _group(primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column(
            "job", sa.String(36), sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("point", sa.Text, nullable=False),
        sa.Column("judged", sa.BigInteger, nullable=False),
        sa.Column("stopped", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_children_job", "children", ["job"])
    op.create_table(
        "group_keys",
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        _group(),
        sa.Column("created", sa.Double, nullable=False),
    )
    op.create_index("ix_group_keys_job_group", "group_keys", ["job_group"])


def _group(*, primary_key: bool = False) -> "sa.Column[str]":
    owner = sa.ForeignKey("groups.id", ondelete="CASCADE")
    return sa.Column("job_group", sa.String(36), owner, primary_key=primary_key, nullable=False)
