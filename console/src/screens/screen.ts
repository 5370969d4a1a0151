import type { Answer } from '../api/ask.ts'
import type { Follows } from '../api/live.svelte.ts'
import type { Cell } from '../parts/cell.ts'
import type { IconName } from '../parts/icon-names.ts'

/** A resource of the API, as its lists and its page give it. */
export type Row = { id: string } & Record<string, unknown>

/** A column of a list. `place` is where a phone shows it: the title or the amount of a card, or a line below. */
export type Column<Item> = {
  title: string
  cell: (item: Item) => Cell | undefined
  isNumber?: boolean
  place?: 'title' | 'amount' | 'state' | 'below'
}

/** A filter of a list, with the name of its parameter in the API, which is its name in the address of the page. */
export type Filter = { name: string; title: string; options?: readonly string[]; placeholder?: string }

/** Something that the reader can do, with what it asks before. */
export type Action<Item> = {
  title: string
  icon: IconName
  /** A sentence that says what the act changes; that of a destructive act names what cannot be undone. */
  about?: string
  tone?: 'primary' | 'danger' | 'lab'
  /** The word that the reader has to type first in production, of an act that cannot be undone. */
  typed?: (item: Item) => string
  /** The fields of its form; a function where they depend on the server, or on what is chosen in others. */
  fields?: Fields
  isOffered?: (item: Item) => boolean
  /** Whether it changes nothing, and so is there for readers too. */
  isReading?: boolean
  /** Says what the act would do with these values, and changes nothing. */
  preview?: { title: string; run: (item: Item, values: Record<string, string>) => Promise<string> }
  /** Does it, and returns what to say or where to go. */
  run: (item: Item, values: Record<string, string>) => Promise<Outcome | undefined>
  /** The command that does the same. */
  shortcut?: string
}

/** What came of an act: a page to go to, a sentence, or a secret that is shown once. */
export type Outcome = {
  goTo?: string
  told?: string
  secret?: { title: string; text: string }
  shown?: unknown
}

/** Values of a form by the names of its fields; absent of a field that was not touched. */
export type FieldValues = Readonly<Record<string, string | undefined>>
export type Fields = readonly Field[] | ((values: FieldValues) => readonly Field[])

export type Field = {
  /** The field of the request, by which the server names what it refuses. */
  name: string
  title: string
  hint?: string
  value?: string
  options?: readonly { value: string; title: string }[]
  /** The options of a list that the server has. */
  choices?: () => Promise<readonly { value: string; title: string }[]>
  isOptional?: boolean
  isLong?: boolean
  /** The kinds of files whose text can be taken, as a browser names them. */
  files?: string
}

/** A page that lists one kind of resource. */
export type ListScreen<Item extends Row = Row> = {
  title: string
  /** A sentence on what is listed, where the title does not say it. */
  about?: string
  /** The operation that lists them. */
  path: string
  /** Parameters that every request has. */
  query?: Readonly<Record<string, string>>
  read?: Reader
  /** The name of the list in the answer's data, where it is not the data itself. */
  member?: string
  columns: readonly Column<Item>[]
  filters?: readonly Filter[]
  /** The page of one of them, under `/console`. */
  hrefOf?: (item: Item) => string
  actions?: readonly Action<undefined>[]
  empty: Empty
  follows?: Follows
}

/** What a list without rows says, and how the first one comes about. */
export type Empty = { text: string; command?: string; trigger?: string }

/** Reads a page of a list where its rows are not those of one answer, as asked for with the key of this session. */
export type Reader = (path: string) => Promise<Answer<unknown>>

/** A page of one resource. */
export type DetailScreen<Item extends Row = Row> = {
  /** The title of the list that it belongs to, and its page. */
  list: { title: string; href: string }
  pathOf: (id: string) => string
  member?: string
  /** The resource in an answer that does not have it as it is. */
  itemOf?: (data: unknown, id: string) => Item
  titleOf: (item: Item) => string
  stateOf?: (item: Item) => string | undefined
  facts: readonly { title: string; cell: (item: Item) => Cell | undefined }[]
  actions?: readonly Action<Item>[]
  /** The acts where they depend on the resource. */
  actionsOf?: (item: Item) => readonly Action<Item>[]
  /** Lists of what belongs to it. */
  parts?: readonly Part<Item>[]
  follows?: (id: string) => Follows
}

/** A list on the page of a resource. */
export type Part<Item> = {
  title: string
  pathOf: (item: Item) => string | undefined
  readerOf?: (item: Item) => Reader
  member?: string
  columns: readonly Column<Row>[]
  hrefOf?: (row: Row) => string
  empty: string
}

/** The content of an answer: its data, or the member of the data that has it. */
export const contentOf = (data: unknown, member: string | undefined): unknown =>
  member === undefined ? data : (data as Record<string, unknown>)[member]

/** Follows the events of the resources that a word begins: `transaction` follows `transaction.complete`. */
export const followsTypes =
  (...words: string[]): Follows =>
  ({ type }) =>
    words.some((word) => type.startsWith(`${word}.`))

export const followsResource =
  (id: string): Follows =>
  ({ resourceId }) =>
    resourceId === id

export const fieldsOf = (fields: Fields | undefined, values: FieldValues): readonly Field[] =>
  typeof fields === 'function' ? fields(values) : (fields ?? [])
