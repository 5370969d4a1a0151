import type { AccountKind, BookedEntry } from '#engines/ledger/index'

/** Names of the kinds of accounts, for a reader. A movement is about accounts of the first two. */
const kindTexts: Readonly<Record<AccountKind, string>> = {
  address: 'address',
  wallet: 'merchant wallet',
  fees: 'the fees of the network',
  difference: 'the differences from the chain',
  drift: 'the growth of balances without transfers',
  adjustment: 'the adjustments',
  unclaimed: 'the coins that belong to no merchant',
  settlement: 'the settlement of merchants',
  outside: 'the outside',
}
const kinds = Object.keys(kindTexts) as AccountKind[]

/** The number of amounts of a posting that are told; a transaction of many transfers has a posting for each. */
const toldMax = 4

/** Says what a posting moved: 10.5 USDC were booked out of address 0x7a1f…9c02. One that takes another back names what that moved. */
export function bookingText(
  entries: readonly BookedEntry[],
  isTakenBack: boolean,
  amountText: (entry: BookedEntry) => string,
): string {
  const told = mainEntries(entries).map((entry) => {
    const isIn = entry.amountAtomic > 0n !== isTakenBack
    const isFee = !isIn && entries.some(({ kind }) => kind === 'fees')
    return {
      amount: amountText({ ...entry, amountAtomic: absolute(entry.amountAtomic) }),
      where: `${isIn ? 'into' : 'out of'} ${accountText(entry)}${isFee ? ' as a fee of the network' : ''}`,
    }
  })
  const [only] = told
  if (only && told.length === 1 && !isTakenBack)
    return `${only.amount} ${only.amount.startsWith('1 ') ? 'was' : 'were'} booked ${only.where}.`
  const shown = told.slice(0, toldMax).map(({ amount, where }) => `${amount} ${where}`)
  const more = told.length > toldMax ? ` and ${told.length - toldMax} more` : ''
  return `${isTakenBack ? 'The booking of ' : ''}${shown.join(', ')}${more} ${isTakenBack ? 'was taken back' : 'were booked'}.`
}

const absolute = (amount: bigint) => (amount < 0n ? -amount : amount)

/** The entries of the kinds that matter most to a reader; their counterparts follow from them. */
function mainEntries(entries: readonly BookedEntry[]): readonly BookedEntry[] {
  const main = entries.filter(({ kind }) => kind === 'address' || kind === 'wallet')
  if (main.length > 0) return main
  const first = kinds.find((kind) => entries.some((entry) => entry.kind === kind))
  return entries.filter(({ kind }) => kind === first)
}

const accountText = ({ kind, address }: BookedEntry) =>
  address === '' ? kindTexts[kind] : `${kindTexts[kind]} ${shortened(address)}`

const shortened = (address: string) =>
  address.length <= 14 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`
