"""The import pages: what is here, what files look like, notes and choices, large files, studies."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client

from dilemmas.models import Dilemma, Response
from dilemmas.services.dilemmas import import_dilemmas
from ratings import tasks
from ratings.models import Job, Panel, Upload
from ratings.services import jobs, uploads
from tests.cast import NOW, draft_panel, table
from tests.integration.test_coordinating import DILEMMAS, as_, assert_described, text_of, upload
from tests.integration.test_importing import FLAT, judgement, row
from tests.integration.test_studies import small_study

pytestmark = pytest.mark.django_db
PAGE = "/coordinate/import/"


@pytest.fixture
def client() -> Client:
    return as_(draft_panel().owner)


def upload_of(url: str) -> Upload:
    return Upload.objects.get(pk=url.rstrip("/").split("/")[-1])


def work() -> None:
    """Do what waits for a worker."""
    for job in Job.objects.filter(state="waiting"):
        jobs.run(job_id=job.pk, works=tasks.WORKS)


# the first page


def test_kinds_come_in_the_order_of_importing(client):
    page = client.get(PAGE).content.decode()
    places = [page.index(f'value="{kind}"') for kind in ("dilemmas", "responses", "rubric")]
    places += [page.index('value="judgements"'), page.index('value="study"')]
    assert places == sorted(places)
    assert_described(client.get(PAGE))


def test_what_is_here_lists_every_kind(client):
    client.post(upload(client, table(FLAT)).url)
    client.post(upload(client, table([row(1), row(2)]), kind="responses").url)
    client.post(upload(client, table([judgement()]), kind="judgements").url)
    client.post(client.post(PAGE, {"shipped": "rubric"}).url)
    shown = text_of(client.get(PAGE))
    for line in (
        "Dilemmas: mine (1)",
        "Responses: mine (2)",
        "Rubric: awb-semantic",
        "Scores by a model judge: mine, m (1)",
    ):
        assert line in shown
    assert "Responses: panel" not in shown, "somebody else's"


def test_collection_may_be_named_where_several_have_the_codes(client):
    for name in ("one", "two"):
        import_dilemmas(content=table(FLAT), name="x", collection=name, actor="", at=NOW)
    kept = upload(client, table([row(1)]), kind="responses")
    assert "More than one collection" in text_of(client.get(kept.url))
    data = {"kind": "responses", "target": "mine", "collection": "two",
            "file": SimpleUploadedFile("r.csv", table([row(1)]))}  # fmt: skip
    client.post(client.post(PAGE, data).url)
    assert Response.objects.get(external_id="R1").dilemma.collection.name == "two"


def test_file_that_is_too_large_is_refused_in_words(client, settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
    page = upload(client, DILEMMAS + b" " * 1024 * 1024)
    assert page.status_code == 422
    assert "The file is larger than 1 MB. Use the command instead." in text_of(page)
    assert not Upload.objects.exists()


# what files look like


def test_formats_are_described_in_order_with_examples_that_can_be_imported(client):
    page = client.get(f"{PAGE}formats/")
    html = page.content.decode()
    sections = ["dilemmas", "responses", "rubric", "judgements", "study", "study_ratings"]
    places = [html.index(f'id="{section}"') for section in sections]
    assert places == sorted(places)
    names = [part.split('"')[0] for part in html.split('href="/coordinate/import/examples/')[1:]]
    assert len(names) == 8
    for name in names:
        got = client.get(f"{PAGE}examples/{name}")
        assert got.status_code == 200
        assert f'filename="{name}"' in got["Content-Disposition"]
    assert client.get(f"{PAGE}examples/..%2Fimport.md").status_code == 404
    assert client.get(f"{PAGE}examples/README.md").status_code == 404
    example = b"".join(client.get(f"{PAGE}examples/dilemmas.csv").streaming_content)
    assert "new" in text_of(client.get(upload(client, example).url))


# looking and deciding


def test_encoding_is_said_before_and_after(client):
    rows = [{"code": "X", "language": "ca", "context": "Això és naïf."}]
    kept = upload(client, table(rows).decode().encode("latin-1"))
    page = text_of(client.get(kept.url))
    assert "Read as: CSV, Windows-1252 (Latin-1), separator «,»." in page
    assert "«Això», «és», «naïf.»" in page
    done = client.post(kept.url, follow=True)
    assert "Imported: 1 new" in text_of(done) and "Windows-1252 (Latin-1)" in text_of(done)


def test_replacing_is_offered_only_where_it_would_help(client):
    client.post(upload(client).url)
    changed = DILEMMAS.replace(b"Context 3", b"Another")
    page = client.get(upload(client, changed).url).content.decode()
    assert 'name="update"' in page and 'name="repair"' not in page
    both = upload(client, changed + b"D-9,en,,\r\nD-9,en,Title,Twice\r\n")
    assert 'name="update"' not in client.get(both.url).content.decode()
    missing = client.get(upload(client, b"code,language\nX,en\n").url).content.decode()
    assert 'name="update"' not in missing


def test_unreadable_characters_are_replaced_only_when_asked_for(client):
    kept = upload(client, DILEMMAS.replace(b"Context 3", b"Con\0text 3"))
    page = client.get(kept.url)
    assert page.status_code == 422 and 'name="repair"' in page.content.decode()
    client.post(kept.url, {"action": "look", "repair": "1"})
    assert "replaced by «\ufffd»: 1" in text_of(client.get(kept.url))
    client.post(kept.url, {"action": "import"})
    texts = Dilemma.objects.get(code="D-3").versions.get().texts.get()
    assert texts.context == "Con\ufffdtext 3"


NASTY = "\"><img src=x onerror=alert(1)><script>alert('x')</script>"


def test_nothing_of_a_file_becomes_markup(client):
    rows = [{"code": NASTY, "language": "en", "title": NASTY, "context": NASTY, NASTY: "1"}]
    bad = [{"code": "X", "language": NASTY, "context": "c"}]
    broken = f'[{{"code": "{NASTY[2:]}"\n"x"}}]'.encode()
    for content in (table(rows), table(bad), broken, NASTY.encode(), table([{NASTY: "1"}])):
        kept = upload(client, content, name=f"{NASTY.replace('/', '')}.csv")
        for page in (client.get(kept.url), client.post(kept.url, follow=True)):
            html = page.content.decode()
            assert "<img" not in html and "<script>alert" not in html
            assert "unsafe-inline" not in page["Content-Security-Policy"]
    assert "&lt;img" in client.get(upload(client, table(rows)).url).content.decode()


def test_preview_holds_no_lock_and_writes_nothing(client, monkeypatch):
    kept = upload(client, table(FLAT))
    with transaction.atomic():
        before = Dilemma.objects.count()
    statements = []
    with connection.execute_wrapper(
        lambda execute, sql, *rest: (statements.append(sql), execute(sql, *rest))[1]
    ):
        assert client.get(kept.url).status_code == 200
    writing = ("INSERT", "UPDATE", "DELETE", "BEGIN", "SAVEPOINT")
    content = [sql for sql in statements if "dilemmas_" in sql or "SAVEPOINT" in sql]
    assert content and not [sql for sql in content if sql.lstrip().upper().startswith(writing)]
    assert Dilemma.objects.count() == before


# large files


@pytest.fixture
def large(monkeypatch):
    """Any file counts as large."""
    monkeypatch.setattr(uploads, "LARGE", 0)


@pytest.mark.usefixtures("large")
def test_large_file_is_read_and_imported_by_a_worker(client):
    kept = upload(client)
    page = client.get(kept.url)
    assert "The file is being read." in text_of(page) and "hx-get" in page.content.decode()
    job = Job.objects.get()
    assert (job.kind, job.state) == ("import", "waiting")
    Job.objects.update(done=300, total=900)
    part = client.get(kept.url, headers={"HX-Request": "true"})
    assert "300 / 900" in text_of(part) and "<html" not in part.content.decode()
    before = Dilemma.objects.count()
    work()
    assert "see what came of it" in text_of(client.get(kept.url, headers={"HX-Request": "true"}))
    shown = text_of(client.get(kept.url))
    assert "7 new" in shown and "The file has 7 rows" in shown and "Context 5" in shown
    assert Dilemma.objects.count() == before
    assert client.post(kept.url, {"action": "import"}).url == kept.url
    assert "The file is being imported." in text_of(client.get(kept.url))
    client.post(kept.url, {"action": "import"})
    assert Job.objects.filter(state="waiting").count() == 1, "a second click asks for nothing more"
    work()
    assert "Imported: 7 new" in text_of(client.get(kept.url))
    assert Dilemma.objects.count() == before + 7
    assert bytes(upload_of(kept.url).content) == b""


@pytest.mark.usefixtures("large")
def test_worker_says_what_is_wrong_in_the_owners_language(client):
    owner = Upload.owner.field.related_model.objects.get(email="owner@panel.test")
    owner.language = "ca"
    owner.save()
    kept = upload(client, table([{"code": "", "language": "en", "context": "c"}]))
    work()
    look = upload_of(kept.url).result["look"]
    assert look["count"] == 1 and look["problems"][0].startswith("Línia 2, code:")
    page = client.get(kept.url)
    assert page.status_code == 422
    assert Job.objects.get().state == "done", "a refusal is an answer"


@pytest.mark.usefixtures("large")
def test_large_known_content_is_replaced_when_asked_for(client):
    client.post(upload(client).url)
    work()
    kept = upload(client, DILEMMAS.replace(b"Context 3", b"Another"))
    work()
    client.post(kept.url, {"action": "import"})
    work()
    assert 'name="update"' in client.get(kept.url).content.decode()
    client.post(kept.url, {"action": "look", "update": "1"})
    work()
    assert "1 changed" in text_of(client.get(kept.url))
    client.post(kept.url, {"action": "import"})
    work()
    assert Dilemma.objects.get(code="D-3").versions.count() == 2


@pytest.mark.usefixtures("large")
def test_two_large_files_are_two_jobs(client):
    first, second = upload(client), upload(client, target="other")
    assert Job.objects.count() == 2
    work()
    for kept in (first, second):
        assert "7 new" in text_of(client.get(kept.url))


@pytest.mark.usefixtures("large")
def test_work_that_failed_is_said_and_can_be_asked_for_again(client):
    kept = upload(client)
    Job.objects.update(state="failed", message="the disk is full")
    page = client.get(kept.url)
    assert "the disk is full" in text_of(page) and "Nothing was imported" in text_of(page)
    client.post(kept.url, {"action": "look"})
    work()
    assert "7 new" in text_of(client.get(kept.url))


def test_worker_finds_nothing_to_do_for_a_file_that_has_gone():
    job = Job.objects.create(kind="import", parameters={"upload": 0, "act": "import"})
    jobs.run(job_id=job.pk, works=tasks.WORKS)
    job.refresh_from_db()
    assert job.state == "done"


def test_only_large_files_are_left_to_the_worker(client):
    assert not uploads.is_large(upload_of(upload(client).url))
    big = upload(client, DILEMMAS + b"\r\n" * 600_000)
    assert uploads.is_large(upload_of(big.url))
    assert Job.objects.filter(kind="import").count() == 1


# a study rated elsewhere


def study(client, *, title="A study", scale="1-3", **files):
    given = small_study()
    contents = {"items": given.items, "ratings": given.ratings, "judgements": given.judgements}
    data = {"what": "study", "study-title": title, "study-scale": scale, "study-slug": ""}
    for name, content in (contents | files).items():
        data[f"study-{name}"] = SimpleUploadedFile(f"{name}.csv", content)
    return client.post(PAGE, data)


def test_study_comes_in_through_the_browser(client):
    kept = study(client)
    shown = text_of(client.get(kept.url))
    assert "Confirming would import 4 new" in shown and "items.csv: CSV, UTF-8" in shown
    assert not Panel.objects.filter(slug="a-study").exists()
    done = client.post(kept.url, follow=True)
    assert 'href="/coordinate/a-study/"' in done.content.decode()
    panel = Panel.objects.get(slug="a-study")
    assert (panel.state, panel.origin) == ("closed", "imported")
    assert client.get("/coordinate/a-study/").status_code == 200
    assert "importing would change nothing" in text_of(client.get(study(client).url))


def test_bad_rows_of_all_files_of_a_study_are_named_together(client):
    given = small_study()
    page = client.get(
        study(
            client,
            items=given.items.replace(b"i3,p1", b"i0,p1"),
            ratings=given.ratings.replace(b"i0,ann,clarity,1", b"i0,ann,clarity,9"),
            judgements=given.judgements.replace(b"clarity,1.0", b"clarity,x"),
        ).url
    )
    shown = text_of(page)
    assert page.status_code == 422
    for place in ("items.csv, Line 5, item_id", "ratings.csv, Line 2, score",
                  "judgements.csv, Line 2, score"):  # fmt: skip
        assert place in shown
    assert not Panel.objects.filter(origin="imported").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [({"scale": "five"}, "1-5"), ({"title": "…"}, "Write an address"), ({"items": b""}, "empty")],
)
def test_study_form_says_what_is_missing(client, change, says):
    page = study(client, **change)
    assert page.status_code == 422 and says in text_of(page)
    assert_described(page)


@pytest.mark.usefixtures("large")
def test_large_study_is_read_and_imported_by_a_worker(client):
    kept = study(client)
    work()
    assert "Confirming would import 4 new" in text_of(client.get(kept.url))
    client.post(kept.url, {"action": "import"})
    work()
    assert Panel.objects.filter(slug="a-study", state="closed").exists()


def test_uploads_of_a_study_keep_what_it_is_called(client):
    kept = upload_of(study(client, title="Títol", scale="0,0.5,1").url)
    assert kept.parameters["names"] == ["items.csv", "ratings.csv", "judgements.csv"]
    assert (kept.parameters["slug"], kept.parameters["scale"]) == ("titol", "0,0.5,1")
    assert uploads.unpack_study(kept).judgements == small_study().judgements
    assert json.dumps(kept.parameters)


# columns that somebody names


def test_columns_under_other_names_are_chosen_on_the_page(client):
    rows = [{"case": "X-1", "lang": "en", "words": "You decide.", "title": "T"}]
    kept = upload(client, table(rows))
    page = client.get(kept.url)
    assert page.status_code == 422 and "Which columns of your file are these?" in text_of(page)
    assert "<option>words</option>" in page.content.decode()
    named = {"column-code": "case", "column-language": "lang", "column-context": "words"}
    again = client.post(kept.url, {"action": "look", **named}, follow=True)
    assert "Confirming would import 1 new" in text_of(again)
    assert "The column «words» was read as «context»." in text_of(again)
    client.post(kept.url, {"action": "import"})
    assert Dilemma.objects.filter(code="X-1").count() == 1


def test_a_choice_that_makes_no_sense_is_a_missing_column_still(client):
    kept = upload(client, table([{"case": "X-1", "language": "en", "context": "You decide."}]))
    again = client.post(
        kept.url, {"action": "look", "column-code": "nothing", "column-evil": "case"}, follow=True
    )
    assert again.status_code == 422 and "code: This column is missing." in text_of(again)
