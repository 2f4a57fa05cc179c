// Reading an applicant from a file.

import { t } from "./words.js";

/** A file that is not one applicant; the message is a sentence for the user. */
export class FileError extends Error {}

/** The cells of CSV text, with quoting as in RFC 4180. */
export function parseCsv(text, separator) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some((value) => value !== "")) rows.push(row);
    row = [];
  };
  for (let i = 0; i < text.length; i += 1) {
    const sign = text[i];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[i + 1] === '"') {
        cell += sign;
        i += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === separator) endCell();
    else if (sign === "\n") endRow();
    else if (sign !== "\r") cell += sign;
  }
  endRow();
  return rows;
}

/** Which of the usual separators the header has most of. */
function separatorOf(text) {
  const header = text.split("\n", 1)[0];
  const often = (sign) => header.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (often(sign) > often(best) ? sign : best));
}

function fromCsv(text) {
  const [header, ...rows] = parseCsv(text, separatorOf(text));
  if (!header || rows.length !== 1) {
    throw new FileError(
      t("A CSV file must have a header and one row, but this one has {n} rows.", {
        n: rows.length,
      }),
    );
  }
  if (rows[0].length !== header.length) {
    throw new FileError(
      t("The header has {n} columns, but the row has {m}.", {
        n: header.length,
        m: rows[0].length,
      }),
    );
  }
  return new Map(header.map((name, i) => [name.trim(), rows[0][i].trim()]));
}

function fromJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new FileError(t("The file starts like JSON but cannot be read as JSON."));
  }
  if (Array.isArray(value) && value.length === 1) [value] = value;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new FileError(t("A JSON file must hold one object, with a value for each field."));
  }
  return new Map(Object.entries(value));
}

/** The values of a file by the names of their fields; those of CSV are texts. */
export function parseRow(text) {
  const plain = text.replace(/^\ufeff/, "").trim();
  if (plain === "") throw new FileError(t("The file is empty."));
  return /^[[{]/.test(plain) ? fromJson(plain) : fromCsv(plain);
}
