#!/usr/bin/env python3
"""Writes the PDF files under crates/read/tests/samples: text on two pages, text behind a password, a page without text.

    scripts/golden/sample_pdfs.py
"""

from pathlib import Path

from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A5
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, Preformatted, SimpleDocTemplate

OUT = Path(__file__).resolve().parents[2] / "crates/read/tests/samples"


def frame(canvas: Canvas, document) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(60, 560, "The handbook of pumps")
    canvas.drawCentredString(210, 30, str(document.page))


def build(path: Path, encrypt: StandardEncryption | None = None) -> None:
    styles = getSampleStyleSheet()
    body = styles["BodyText"]
    body.alignment = TA_JUSTIFY
    body.hyphenationLang = ""
    story = [
        Paragraph("Priming the pump", styles["Heading1"]),
        Paragraph(
            "A pump that has run dry holds air, and air does not lift water. Fill the housing through the upper "
            "plug until water runs out of it. Then close the plug by hand; a wrench would crack it.",
            body,
        ),
        Paragraph("Start the motor and wait for the gauge to rise. If it does not rise within a minute, stop.", body),
        Preformatted("pump --start\npump --status", styles["Code"]),
        PageBreak(),
        Paragraph("Winter", styles["Heading1"]),
        Paragraph("Water that freezes in the housing breaks it. Drain the pump before the first frost.", body),
        PageBreak(),
        Paragraph("Repairs", styles["Heading1"]),
        Paragraph("A worn seal drips. Replace it together with its spring.", body),
    ]
    document = SimpleDocTemplate(str(path), pagesize=A5, encrypt=encrypt, invariant=1)
    document.build(story, onFirstPage=frame, onLaterPages=frame)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    build(OUT / "pump.pdf")
    build(OUT / "locked.pdf", StandardEncryption("secret", ownerPassword="owner"))
    build(OUT / "owned.pdf", StandardEncryption("", ownerPassword="owner", canPrint=0))
    canvas = Canvas(str(OUT / "scanned.pdf"), pagesize=A5, invariant=1)
    canvas.rect(50, 50, 200, 200, fill=1)
    canvas.showPage()
    canvas.save()


if __name__ == "__main__":
    main()
