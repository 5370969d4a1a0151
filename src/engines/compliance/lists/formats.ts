import type { ScreenedAddress } from '#chains/screening-chains'

/** An address of a file: with its currency, as sanctions lists name it, or with its chain. */
export type FileEntry = { code: string; text: string; reference: string | undefined; line: number }

/** Reads the chunks of a file. Throws a `ListProblem` that names the line. */
type FormatReader = (chunks: AsyncIterable<string>) => AsyncIterable<FileEntry>

/** The addresses that a code and a text name: several where chains write theirs alike; `unsupported` for currencies without a screened chain. */
export type EntryParser = (
  code: string,
  text: string,
) => readonly ScreenedAddress[] | 'unsupported' | 'malformed' | 'unknown'

export type ListFormat = { read: FormatReader; parse: EntryParser }
