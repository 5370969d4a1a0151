/** Exports as text: a header, and one line for each record, made as the client reads them. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Ctx } from '#engines/ctx'
import { csvLine } from '#lib/csv'
import { ApiError, invalid } from '#lib/errors'
import { type Answer, answer } from '#runtime/http/endpoint'

/** The fields of a record by their names; all records of an export have the same. */
type ExportRecord = Readonly<Record<string, string>>

export const exportFormats = ['csv', 'jsonl'] as const
export type ExportFormat = (typeof exportFormats)[number]

const medias: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/x-ndjson' }

/** Characters that are sent at once. */
const chunkCharacters = 65_536

/** Time for the digest of an export. Clients wait five minutes for the first byte of an answer. */
export const digestMaxMs = 240_000

async function* textOf(
  format: ExportFormat,
  columns: readonly string[],
  records: AsyncIterable<ExportRecord>,
): AsyncIterable<Buffer> {
  let text = format === 'csv' ? csvLine(columns) : ''
  for await (const record of records) {
    text +=
      format === 'csv'
        ? csvLine(columns.map((column) => record[column] ?? ''))
        : `${JSON.stringify(record)}\n`
    if (text.length < chunkCharacters) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

/**
 * Answers with an export, whose digest and length come first: it is made twice, and is the same both times, since it is of days that are
 * closed. Neither pass holds more than a page of records. The first one stops when its client is gone.
 */
export async function answerExport(
  { isWaitedFor }: Pick<Ctx, 'isWaitedFor'>,
  { name, format, columns }: { name: string; format: ExportFormat; columns: readonly string[] },
  recordsOf: () => AsyncIterable<ExportRecord>,
): Promise<Answer> {
  const endMs = performance.now() + digestMaxMs
  const hash = createHash('sha256')
  let length = 0
  for await (const bytes of textOf(format, columns, recordsOf())) {
    if (isWaitedFor?.() === false) throw new ApiError('requestTimeout', 'The client is gone.')
    if (performance.now() > endMs) throw tooLarge()
    hash.update(bytes)
    length += bytes.length
  }
  return answer(200, Readable.from(textOf(format, columns, recordsOf()), { objectMode: false }), {
    'content-type': `${medias[format]}; charset=utf-8`,
    'content-length': String(length),
    'content-disposition': `attachment; filename="${name}.${format}"`,
    'repr-digest': `sha-256=:${hash.digest('base64')}:`,
  })
}

const tooLarge = () =>
  invalid({
    at: 'to',
    reason: `makes an export that is not ready after ${digestMaxMs / 60_000} minutes: ask for fewer days, or for the statement of one address`,
  })
