import { ask, pathWith } from '../api/ask.ts'
import type { ListedEntries, ScreeningList, ScreeningListVersion } from '../api/types.ts'
import { plural, wordsOf } from '../format/text.ts'
import { mono, text, time } from '../parts/cell.ts'
import { screenedChoices } from './choices.ts'
import type { Action, Column, DetailScreen, ListScreen, Row } from './screen.ts'

/** A list under its name, which is its id. */
type NamedList = Row & ScreeningList
type Version = Row & ScreeningListVersion

const path = '/operator/screeningLists'
const named = (lists: readonly ScreeningList[]): NamedList[] =>
  lists.map((each) => ({ id: each.list, ...each }))

const kinds: Record<ScreeningList['kind'], string> = {
  sanctions: 'sanctions',
  block: 'your blocklist',
  allow: 'your allowlist',
  issuer: 'blocklist of an issuer',
}

/** How a version came about, with the file or the reason. */
const whyOf = ({ change, contentsOf, source, reason }: Omit<ScreeningListVersion, 'id'>) =>
  [change === 'rollback' ? `rollback to ${contentsOf}` : change, source, reason].filter(Boolean).join(' · ')

const checkAddress: Action<undefined> = {
  title: 'Check an address',
  icon: 'search',
  tone: 'primary',
  isReading: true,
  about:
    'Looks the address up in the present lists. It is not recorded; Screenings has an act that decides and records.',
  fields: [
    { name: 'chain', title: 'Chain', options: screenedChoices },
    { name: 'address', title: 'Address' },
  ],
  async run(_, values) {
    const { data } = await ask<ListedEntries>('GET', pathWith('/operator/screeningListEntries', values))
    return { shown: shownEntries(data) }
  },
}

function shownEntries({ address, entries, versions }: ListedEntries): string {
  if (entries.length === 0) return `${address} is on none of ${plural(Object.keys(versions).length, 'list')}.`
  const lines = entries.map(
    ({ list, kind, fromVersion, reference }) =>
      `${list}: ${kinds[kind]}, since version ${fromVersion} of ${versions[list]}${reference ? `, reference ${reference}` : ''}`,
  )
  return [`${address} is on ${plural(entries.length, 'list')}.`, ...lines].join('\n')
}

export const screeningLists: ListScreen<NamedList> = {
  title: 'Screening lists',
  about:
    'The lists that screening consults. They apply to all entities of this server, so the command line changes them: bezant screening import, add, remove and rollback.',
  path,
  async read() {
    const { data, ...answer } = await ask<ScreeningList[]>('GET', path)
    return { ...answer, data: named(data) }
  },
  columns: [
    { title: 'List', cell: ({ list }) => text(list), place: 'title' },
    { title: 'Kind', cell: ({ kind }) => text(kinds[kind]), place: 'state' },
    {
      title: 'Entries',
      isNumber: true,
      place: 'amount',
      cell: ({ entries }) => text(entries.toLocaleString('en')),
    },
    { title: 'Version', isNumber: true, cell: ({ version }) => text(version) },
    { title: 'Changed', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'By', cell: ({ actor }) => mono(actor) },
    { title: 'Why', cell: (item) => text(whyOf(item)), place: 'below' },
  ],
  hrefOf: ({ list }) => `/screening-lists/${list}`,
  actions: [checkAddress],
  empty: {
    text: 'No lists yet: screening finds no address by one. Load a list of sanctions, or make your own.',
    command: 'bezant screening --help',
  },
}

const versionColumns: readonly Column<Version>[] = [
  { title: 'Version', cell: ({ version }) => text(version), place: 'title' },
  { title: 'Changed', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'Change', cell: (version) => text(whyOf(version)), place: 'below' },
  { title: 'Added', isNumber: true, cell: ({ added }) => text(added.toLocaleString('en')) },
  { title: 'Removed', isNumber: true, cell: ({ removed }) => text(removed.toLocaleString('en')) },
  {
    title: 'Entries',
    isNumber: true,
    place: 'amount',
    cell: ({ entries }) => text(entries.toLocaleString('en')),
  },
  { title: 'By', cell: ({ actor }) => mono(actor), place: 'state' },
]

export const screeningList: DetailScreen<NamedList> = {
  list: { title: 'Screening lists', href: '/screening-lists' },
  pathOf: () => path,
  itemOf(data, name) {
    const found = named(data as ScreeningList[]).find(({ list }) => list === name)
    if (!found) throw new Error('There is no list of this name.')
    return found
  },
  titleOf: ({ list }) => list,
  facts: [
    { title: 'Kind', cell: ({ kind }) => text(wordsOf(kinds[kind])) },
    { title: 'Entries', cell: ({ entries }) => text(entries.toLocaleString('en')) },
    { title: 'Version', cell: ({ version }) => text(version) },
    { title: 'Changed', cell: ({ createDate }) => time(createDate) },
    { title: 'By', cell: ({ actor }) => mono(actor) },
    { title: 'Change', cell: (item) => text(whyOf(item)) },
    { title: 'SHA-256 of the file', cell: ({ sourceHash }) => mono(sourceHash) },
    {
      title: 'Change it by',
      cell: ({ list, kind }) =>
        kind === 'issuer'
          ? text('No command: it follows its issuer')
          : mono(
              kind === 'sanctions'
                ? `bezant screening import FILE --list ${list}`
                : `bezant screening add ADDRESS --list ${list}`,
            ),
    },
  ],
  parts: [
    {
      title: 'Versions',
      pathOf: ({ list }) => pathWith('/operator/screeningListVersions', { list, pageSize: '50' }),
      columns: versionColumns as readonly Column<Row>[],
      empty: 'It has no version yet.',
    },
  ],
}
