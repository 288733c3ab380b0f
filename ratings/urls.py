"""Addresses. Judges' ones carry a batch's code and a position, never a response's key."""

from django.urls import path

from ratings.views import (
    coordinating,
    demo,
    entering,
    importing,
    judging,
    preferences,
    public,
    reporting,
)

urlpatterns = [
    path("", entering.home, name="home"),
    path("language/", entering.language, name="language"),
    path("reading/", preferences.reading, name="preferences"),
    path("demo/", demo.door, name="demo"),
    path("installation/owner/<str:token>/", entering.first_owner, name="first_owner"),
    path("invitation/<str:token>/", entering.invitation, name="invitation"),
    path("invitation/<str:token>/decline/", entering.decline, name="invitation_decline"),
    # judges
    path("judge/", judging.desk, name="desk"),
    path("judge/<slug:slug>/consent/", judging.consent, name="consent"),
    path("judge/<slug:slug>/instructions/", judging.instructions, name="instructions"),
    path("judge/<slug:slug>/clarifications/", judging.clarifications, name="clarifications"),
    path("judge/<slug:slug>/guess/", judging.guess, name="guess"),
    path("judge/<slug:slug>/my-ratings.csv", judging.my_ratings, name="my_ratings"),
    path("judge/batch/<str:code>/", judging.batch, name="batch"),
    path("judge/batch/<str:code>/<int:position>/", judging.rate, name="rate"),
    path("judge/batch/<str:code>/<int:position>/draft/", judging.draft, name="draft"),
    path("judge/batch/<str:code>/<int:position>/flag/", judging.flag, name="flag"),
    # coordinators
    path("coordinate/", coordinating.panels, name="panels"),
    path("coordinate/new/", coordinating.new_panel, name="new_panel"),
    path("coordinate/import/", importing.start, name="import"),
    path("coordinate/import/formats/", importing.formats, name="import_formats"),
    path("coordinate/import/examples/<str:name>", importing.example, name="import_example"),
    path("coordinate/import/<int:pk>/", importing.preview, name="import_preview"),
    path("coordinate/rubrics/", coordinating.rubrics, name="rubrics"),
    path("coordinate/rubrics/<int:pk>/", coordinating.rubric, name="rubric"),
    path(
        "coordinate/rubrics/<int:pk>/criteria/<int:position>/",
        coordinating.criterion,
        name="rubric_criterion",
    ),
    path(
        "coordinate/rubrics/<int:pk>/preview/",
        coordinating.rubric_preview,
        name="rubric_preview",
    ),
    path("coordinate/<slug:slug>/", coordinating.overview, name="overview"),
    path("coordinate/<slug:slug>/rubric/", coordinating.panel_rubric, name="panel_rubric"),
    path("coordinate/<slug:slug>/blinding/", coordinating.blinding, name="blinding"),
    path("coordinate/<slug:slug>/blinding/<int:pk>/", coordinating.blind_one, name="blind_one"),
    path("coordinate/<slug:slug>/protocol/", coordinating.protocol, name="protocol"),
    path("coordinate/<slug:slug>/order/", coordinating.order, name="order"),
    path("coordinate/<slug:slug>/freeze/", coordinating.freeze, name="freeze"),
    path("coordinate/<slug:slug>/open/", coordinating.open_, name="open"),
    path("coordinate/<slug:slug>/judges/", coordinating.judges, name="judges"),
    path("coordinate/<slug:slug>/judges/<int:pk>/revoke/", coordinating.revoke, name="revoke"),
    path("coordinate/<slug:slug>/clarify/", coordinating.clarify, name="clarify"),
    path("coordinate/<slug:slug>/close/", coordinating.close, name="close"),
    path("coordinate/<slug:slug>/publish/", coordinating.publish, name="publish"),
    path("coordinate/<slug:slug>/audit/", coordinating.audit, name="audit"),
    # reports
    path("report/<slug:slug>/", reporting.report, name="report"),
    path("report/<slug:slug>/compute/", reporting.compute, name="report_compute"),
    path("report/<slug:slug>/report.json", reporting.report_json, name="report_json"),
    path("report/<slug:slug>/ratings.csv", reporting.ratings_csv, name="ratings_csv"),
    path("report/<slug:slug>/ratings.json", reporting.ratings_json, name="ratings_json"),
    # public
    path("published/", public.index, name="published"),
    path("published/<slug:slug>/", public.panel, name="published_panel"),
    path("published/<slug:slug>/report.json", public.report_json, name="published_report_json"),
]
