import { type Answer, ask } from '../api/ask.ts'
import type { Freeze, Policy } from '../api/types.ts'
import { changesBetween } from '../format/changes.ts'
import { wordsOf } from '../format/text.ts'
import { chain, id, json, mono, status, text, time } from '../parts/cell.ts'
import { freezeActs, setPolicyOf } from './policy-acts.ts'
import {
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Part,
  type Row,
} from './screen.ts'

const columns: readonly Column<Policy>[] = [
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'Scope', cell: ({ scope }) => text(wordsOf(scope)), place: 'title' },
  { title: 'Subject', cell: (policy) => subjectOf(policy), place: 'below' },
  { title: 'Version', isNumber: true, cell: ({ version }) => text(version), place: 'amount' },
  { title: 'Rules', cell: ({ rules }) => json(rules) },
  { title: 'By', cell: ({ actor }) => mono(actor) },
  { title: 'State', cell: (policy) => status(stateOf(policy)), place: 'state' },
]

const stateOf = ({ inForce }: Policy) => (inForce ? 'in force' : 'replaced')

function subjectOf({ scope, subjectId }: Policy) {
  const folder = { entity: undefined, walletSet: '/wallet-sets', wallet: '/wallets', apiKey: undefined }[
    scope
  ]
  return id(subjectId, folder && `${folder}/${subjectId}`)
}

const hrefOf = (row: Row) => `/policy/${row.id}`
const versionsOf = (subjectId: string, pageSize: number) =>
  `/operator/policies?subjectId=${subjectId}&pageSize=${pageSize}`

/** The policies of a wallet or a wallet set, on its page. */
export const policiesPart: Part<Row> = {
  title: 'Policy',
  pathOf: (item) => versionsOf(item.id, 20),
  columns: columns as readonly Column<Row>[],
  hrefOf,
  empty: 'It has no policy of its own.',
}

type Decision = Row & {
  intentId: string
  walletId: string
  operation: string
  versions: { scope: Policy['scope']; version: number }[]
  createDate: string
}

const decisionColumns: readonly Column<Decision>[] = [
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'Operation', cell: ({ operation }) => text(wordsOf(operation)), place: 'title' },
  { title: 'Wallet', cell: ({ walletId }) => id(walletId, `/wallets/${walletId}`), place: 'below' },
  {
    title: 'By the policies',
    cell: ({ versions }) =>
      text(versions.map(({ scope, version }) => `${wordsOf(scope).toLowerCase()} ${version}`).join(', ')),
  },
  { title: 'Movement', cell: ({ intentId }) => id(intentId, `/movements/${intentId}`), place: 'state' },
]

export const policies: ListScreen<Policy> = {
  title: 'Policy',
  about:
    'Every version of what may be signed. All policies that apply must allow a signature: of the entity, the wallet set and the wallet.',
  path: '/operator/policies',
  columns,
  filters: [
    { name: 'inForce', title: 'In force', options: ['true', 'false'] },
    { name: 'subjectId', title: 'Subject id' },
  ],
  hrefOf,
  actions: [setPolicyOf(() => ({}), undefined), ...freezeActs<undefined>('entity')],
  follows: followsTypes('policy'),
  empty: { text: 'No policies: nothing is signed.' },
}

/** Reads in what the rules of a version differ from those of the one before. */
const changesOf =
  ({ version, rules }: Policy) =>
  async (path: string): Promise<Answer<unknown>> => {
    const { data, requestId } = await ask<Policy[]>('GET', path)
    const before = data.find((each) => each.version === version - 1)
    if (!before) throw new Error('The version before is not among the newest 50.')
    return { data: changesBetween(before.rules, rules), requestId }
  }

export const policy: DetailScreen<Policy> = {
  list: { title: 'Policy', href: '/policy' },
  pathOf: (versionId) => `/operator/policies/${versionId}`,
  titleOf: ({ scope, version }) => `Policy of the ${wordsOf(scope).toLowerCase()}, version ${version}`,
  stateOf,
  actionsOf: (item) => [
    setPolicyOf(
      ({ subjectId, rules, version, inForce }) => ({
        subjectId,
        rules,
        replacesVersion: inForce ? version : undefined,
      }),
      item,
    ),
  ],
  facts: [
    { title: 'Subject', cell: (item) => subjectOf(item) },
    { title: 'By', cell: ({ actor }) => mono(actor) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    { title: 'Rules', cell: ({ rules }) => json(rules) },
  ],
  parts: [
    {
      title: 'What changed',
      pathOf: ({ subjectId, version }) => (version > 1 ? versionsOf(subjectId, 50) : undefined),
      readerOf: changesOf,
      columns: [
        { title: 'Rule', cell: (row) => mono(row['path'] as string), place: 'title' },
        { title: 'Before', cell: (row) => mono(row['before'] as string), place: 'below' },
        { title: 'Now', cell: (row) => mono(row['after'] as string), place: 'below' },
      ],
      empty: 'Its rules are those of the version before.',
    },
    {
      ...policiesPart,
      title: 'Versions',
      pathOf: ({ subjectId }) => versionsOf(subjectId, 20),
    },
    {
      title: 'Decisions',
      pathOf: ({ scope, subjectId }) =>
        `/operator/policyDecisions?pageSize=20${scope === 'wallet' ? `&walletId=${subjectId}` : ''}`,
      columns: decisionColumns as readonly Column<Row>[],
      empty: 'Nothing was decided yet.',
    },
  ],
}

export const freezes: ListScreen<Freeze> = {
  title: 'Freezes',
  about: 'What signs nothing until it is unfrozen. Accepted transactions wait meanwhile.',
  path: '/operator/freezes',
  columns: [
    { title: 'Since', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Frozen', cell: ({ scope }) => text(wordsOf(scope)), place: 'title' },
    { title: 'Id', cell: (row) => id(row.id, row.scope === 'wallet' ? `/wallets/${row.id}` : undefined) },
    { title: 'Address', cell: ({ address }) => mono(address), place: 'below' },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
    { title: 'State', cell: () => status('frozen'), place: 'state' },
  ],
  filters: [{ name: 'scope', title: 'Frozen', options: ['entity', 'wallet'] }],
  actions: freezeActs<undefined>('entity'),
  follows: followsTypes('entity', 'wallet'),
  empty: { text: 'Nothing is frozen.' },
}
