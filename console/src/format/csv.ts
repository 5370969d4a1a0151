import type { Cell } from '../parts/cell.ts'
import type { Column, Row } from '../screens/screen.ts'

/** Rows as comma-separated values (RFC 4180): ids, addresses and instants are whole, and money is a plain decimal. */
export function csvOf<Item extends Row>(columns: readonly Column<Item>[], rows: readonly Item[]): string {
  const hasIds = rows.some(({ id }) => !isOwnRow(id))
  const table = [...(hasIds ? [idColumn] : []), ...columns].map(({ title, cell }) => {
    const fields = rows.map((row) => fieldsOf(title, cell(row)))
    const headings = [...new Set(fields.flatMap((each) => Object.keys(each)))]
    return { headings: headings.length > 0 ? headings : [title], fields }
  })
  const lines = [
    table.flatMap(({ headings }) => headings.map(quoted)),
    ...rows.map((_, row) =>
      table.flatMap(({ headings, fields }) => headings.map((heading) => fields[row]![heading] ?? '')),
    ),
  ]
  return lines.map((line) => `${line.join(',')}\r\n`).join('')
}

/** A row that the API gives no id is its own. */
const isOwnRow = (id: string) => id.startsWith('{')
const idColumn: Column<Row> = { title: 'Id', cell: ({ id }) => ({ as: 'id', id }) }

/** The fields of one value by their headings, ready to be written. */
function fieldsOf(title: string, cell: Cell | undefined): Record<string, string> {
  if (!cell) return {}
  switch (cell.as) {
    case 'amount':
      return { [title]: decimal(cell), ...(cell.unit && { [`${title} unit`]: quoted(cell.unit) }) }
    case 'address':
      return { [title]: quoted(cell.address), ...(cell.label && { [`${title} name`]: quoted(cell.label) }) }
    case 'parties':
      return {
        From: quoted(cell.from?.address ?? cell.from?.label ?? ''),
        To: quoted(cell.to?.address ?? cell.to?.label ?? ''),
        ...(cell.from?.address && cell.from.label && { 'From name': quoted(cell.from.label) }),
        ...(cell.to?.address && cell.to.label && { 'To name': quoted(cell.to.label) }),
      }
    case 'duration':
      return { [`${title} (ms)`]: String(cell.ms) }
    default:
      return { [title]: quoted(textOf(cell)) }
  }
}

function textOf(cell: Exclude<Cell, { as: 'amount' | 'address' | 'parties' | 'duration' }>): string {
  switch (cell.as) {
    case 'id':
      return cell.id
    case 'chain':
      return cell.blockchain
    case 'status':
      return cell.state
    case 'time':
      return cell.date
    case 'kind':
      return cell.kind
    case 'json':
      return JSON.stringify(cell.value)
    default:
      return cell.text
  }
}

/** A plain decimal, which no program takes for a formula: below zero where the money leaves. */
function decimal({ amount, direction }: Extract<Cell, { as: 'amount' }>): string {
  if (!/^-?\d+(\.\d+)?$/.test(amount)) return quoted(amount)
  return direction === 'out' && /^\d*\.?\d*[1-9]/.test(amount) ? `-${amount}` : amount
}

/** A text as a field. A spreadsheet would take some beginnings for a formula: an apostrophe keeps it a text. */
function quoted(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Hands a text to the browser as a file to save. */
export function saveAs(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
