import type { ToneName } from '../format/tone.ts'
import type { IconName } from './icon-names.ts'

type Party = { address?: string; label?: string }

/** A value of a resource, and how it is shown wherever it occurs. */
export type Cell =
  | { as: 'text'; text: string; isFaint?: boolean; isWhole?: boolean }
  | { as: 'mono'; text: string }
  | { as: 'id'; id: string; href?: string }
  | { as: 'amount'; amount: string; unit?: string; direction?: 'in' | 'out' | 'internal' }
  | { as: 'address'; address: string; label?: string }
  | { as: 'parties'; from?: Party; to?: Party }
  | { as: 'chain'; blockchain: string }
  | { as: 'status'; state: string; tone?: ToneName; icon?: IconName }
  | { as: 'time'; date: string }
  | { as: 'duration'; ms: number }
  | { as: 'kind'; kind: string; icon: IconName }
  | { as: 'link'; text: string; href: string }
  | { as: 'json'; value: unknown }

type Maybe<Value> = Value | null | undefined

const given = <Value>(value: Maybe<Value>): value is Value =>
  value !== undefined && value !== null && value !== ''

/** Makers of cells: each gives nothing for a value that the resource does not have. */
export const text = (value: Maybe<string | number | boolean>): Cell | undefined =>
  given(value) ? { as: 'text', text: String(value) } : undefined
/** A text that is not cut in a list: it says what to do. */
export const wholeText = (value: Maybe<string>): Cell | undefined =>
  given(value) ? { as: 'text', text: value, isWhole: true } : undefined
export const faint = (value: Maybe<string | number>): Cell | undefined =>
  given(value) ? { as: 'text', text: String(value), isFaint: true } : undefined
export const mono = (value: Maybe<string | number>): Cell | undefined =>
  given(value) ? { as: 'mono', text: String(value) } : undefined
export const id = (value: Maybe<string>, href?: string): Cell | undefined =>
  given(value) ? { as: 'id', id: value, href } : undefined
export const link = (value: Maybe<string>, href: string): Cell | undefined =>
  given(value) ? { as: 'link', text: value, href } : undefined
export const amount = (
  value: Maybe<string>,
  unit?: string,
  direction?: 'in' | 'out' | 'internal',
): Cell | undefined => (given(value) ? { as: 'amount', amount: value, unit, direction } : undefined)
export const money = (
  value: Maybe<{ amount?: string; currency?: string }>,
  direction?: 'in' | 'out',
): Cell | undefined =>
  value?.amount === undefined
    ? undefined
    : { as: 'amount', amount: value.amount, unit: value.currency, direction }
export const address = (value: Maybe<string>, label?: string): Cell | undefined =>
  given(value) ? { as: 'address', address: value, label } : undefined
export const chain = (value: Maybe<string>): Cell | undefined =>
  given(value) ? { as: 'chain', blockchain: value } : undefined
export const status = (value: Maybe<string>, tone?: ToneName): Cell | undefined =>
  given(value) ? { as: 'status', state: value, tone } : undefined
export const time = (value: Maybe<string>): Cell | undefined =>
  given(value) ? { as: 'time', date: value } : undefined
export const duration = (value: Maybe<number>): Cell | undefined =>
  given(value) ? { as: 'duration', ms: value } : undefined
export const json = (value: unknown): Cell | undefined =>
  value === undefined || value === null ? undefined : { as: 'json', value }
