import { readAddress } from '#api/business/business-address'
import { requireTokenNetwork } from '#api/sources/token-network'
import { type BusinessChain, businessChains, screenedBusinessAddress } from '#chains/business-chains'
import { stablecoinIn, stablecoinWithId, tokenAddress } from '#chains/network'
import { tryTogether } from '#custody/policy/index'
import { screenSubjects } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { payeesNamed, type Recipient } from '#engines/treasury/address-book/index'
import { ownPockets, riskReasonOf } from '#engines/treasury/disbursements/index'
import type { ReadFile, ReadRow, RowPayment, RowProblem } from '#engines/treasury/payout-batches/index'
import { groupBy } from '#lib/group-by'
import { uuidIn } from '#lib/ids'
import { suggest } from '#lib/suggest'
import { type CellProblem, cellProblem, checkAmount } from './check-amount.ts'
import { type FileRow, shown } from './read-file.ts'

/** A row while it is checked. */
type CheckedRow = FileRow & {
  problems: RowProblem[]
  money?: { amount: bigint; currency: string }
  recipient?: Recipient
  payment?: RowPayment
}

const add = (row: CheckedRow, severity: RowProblem['severity'], { column, message }: CellProblem) =>
  row.problems.push({ column, severity, message })

/** Checks the rows as their payouts would be checked: what is wrong with each, and what it pays. Changes nothing. */
export async function checkRows(
  ctx: Ctx,
  rows: readonly FileRow[],
  identities: object[] | null,
): Promise<Pick<ReadFile, 'rows' | 'notices'>> {
  const checked = rows.map((row): CheckedRow => ({ ...row, problems: [] }))
  for (const row of checked) {
    const money = checkAmount(row.cells.amount, row.cells.currency)
    if (Array.isArray(money)) for (const problem of money) add(row, 'error', problem)
    else row.money = money
  }
  await findRecipients(ctx, checked)
  findPayments(ctx, checked)
  await refuseOwnPockets(ctx, checked)
  requireSenders(ctx, checked, identities)
  warnOfRepetitions(checked)
  await screen(ctx, checked)
  const sum = await tryPolicies(ctx, checked)
  return {
    rows: checked.map(({ number, cells, problems, payment }): ReadRow => {
      const isSound = problems.every(({ severity }) => severity === 'warning')
      const reference = cells.reference || null
      return { number, cells, problems, payment: isSound && payment ? payment : null, reference }
    }),
    notices: sum === undefined ? [] : [`The policy has no room for all of these payouts now: ${sum}.`],
  }
}

/** Finds the recipient that each row names, by its id or by its chain and address. Only the address book is paid. */
async function findRecipients(ctx: Ctx, rows: readonly CheckedRow[]): Promise<void> {
  const asked = new Map(rows.map((row) => [row, askedOf(ctx, row)]))
  const named = await payeesNamed(ctx.db, ctx.entity.id, {
    ids: [...asked.values()].flatMap(({ id }) => id ?? []),
    addresses: [...asked.values()].flatMap(({ address }) => address ?? []),
  })
  const byId = new Map(named.map((each) => [each.id, each]))
  const atAddress = groupBy(named, ({ chain, address }) => `${chain} ${address}`)
  for (const [row, { id, chain, address }] of asked) {
    if (row.problems.some(({ column }) => ['recipient', 'address', 'chain'].includes(column))) continue
    const there = address === undefined ? [] : (atAddress.get(`${chain} ${address}`) ?? [])
    const found = id === undefined ? (there.find(isActive) ?? there[0]) : byId.get(id)
    const at = id === undefined ? 'address' : 'recipient'
    if (!found) {
      const message = `${shown(row.cells[at])} is not in the address book: add it with POST /v1/addressBook/recipients, and upload the file again`
      add(row, 'error', { column: at, message })
      continue
    }
    if (chain !== undefined && found.chain !== chain) {
      const message = `${chain} contradicts the recipient, whose address is on ${found.chain}: leave one of them out`
      add(row, 'error', { column: 'chain', message })
    } else if (address !== undefined && found.address !== address)
      add(row, 'error', {
        column: 'address',
        message: `contradicts the recipient, whose address is ${found.address}: leave one of them out`,
      })
    else if (!isActive(found)) add(row, 'error', { column: at, message: inactiveText(found) })
    else row.recipient = found
  }
}

const isActive = ({ status }: Recipient) => status === 'active'

const inactiveText = ({ status, holdUntil }: Recipient) =>
  status === 'inactive'
    ? `is a recipient that cannot be paid before ${holdUntil}: upload the file again then`
    : `is a recipient whose status is ${status}, and only active ones are paid`

type NamedPayee = { id?: string | undefined; chain?: BusinessChain; address?: string }

/** The recipient that the cells of a row name, as far as they can be read. */
function askedOf(ctx: Ctx, row: CheckedRow): NamedPayee {
  const { recipient, chain: code, address: text } = row.cells
  const asked: NamedPayee = {}
  if (recipient !== '') {
    asked.id = uuidIn(recipient)
    if (asked.id === undefined)
      add(row, 'error', {
        column: 'recipient',
        message: `${shown(recipient)} is not an id of the address book, such as 0192f0c1-2b3c-7d4e-8f50-123456789abc: write addresses in the column address`,
      })
  } else if (text === '')
    add(row, 'error', {
      column: 'recipient',
      message: 'is empty, and so is the address: name one of them',
    })
  const chain = businessChains.find((each) => each === code.toUpperCase())
  if (code !== '' && !chain)
    add(row, 'error', {
      column: 'chain',
      message: `${shown(code)} is not a chain of the business account, such as BASE${suggest(code, businessChains)}`,
    })
  if (chain) asked.chain = chain
  if (text === '') return asked
  if (!chain) {
    if (code === '')
      add(row, 'error', { column: 'chain', message: 'is empty: name the chain of the address' })
    return asked
  }
  try {
    asked.address = readAddress(ctx, chain, text)
  } catch (error) {
    add(row, 'error', cellProblem(error))
  }
  return asked
}

function findPayments(ctx: Ctx, rows: readonly CheckedRow[]): void {
  for (const row of rows) {
    const { recipient, money } = row
    if (!recipient || !money) continue
    const { chain, address: toAddress, id: recipientId } = recipient
    try {
      const { network } = requireTokenNetwork(ctx, 'chain', chain, money.currency, 'amount.currency')
      const token = stablecoinIn(network, money.currency)!
      row.payment = {
        recipientId,
        chain,
        blockchain: network.blockchain,
        toAddress,
        tokenId: token.id,
        ...money,
      }
    } catch (error) {
      add(row, 'error', cellProblem(error))
    }
  }
}

type Paying = CheckedRow & { payment: RowPayment }
const paying = (rows: readonly CheckedRow[]) => rows.filter((row): row is Paying => row.payment !== undefined)

async function refuseOwnPockets(ctx: Ctx, rows: readonly CheckedRow[]): Promise<void> {
  for (const [blockchain, group] of groupBy(paying(rows), ({ payment }) => payment.blockchain)) {
    const addresses = [...new Set(group.map(({ payment }) => payment.toAddress))]
    const own = await ownPockets(ctx.db, { entityId: ctx.entity.id, blockchain }, addresses)
    for (const row of group)
      if (own.has(row.payment.toAddress))
        add(row, 'error', {
          column: 'address',
          message: 'is an address of this account: choose an external one',
        })
  }
}

function requireSenders({ config }: Ctx, rows: readonly CheckedRow[], identities: object[] | null): void {
  for (const row of paying(rows)) {
    const { currency, amount } = row.payment
    if (
      riskReasonOf({ currency, amount, identified: identities !== null }, config.entityCountry) === undefined
    )
      continue
    const message =
      'is an amount for which the travel rule wants the senders: upload the file with identities'
    add(row, 'error', { column: 'amount', message })
  }
}

function warnOfRepetitions(rows: readonly CheckedRow[]): void {
  const first = new Map<string, number>()
  for (const row of paying(rows)) {
    const { toAddress, blockchain, currency, amount } = row.payment
    const key = `${blockchain} ${toAddress} ${currency} ${amount}`
    const before = first.get(key)
    if (before === undefined) first.set(key, row.number)
    else
      add(row, 'warning', {
        column: 'row',
        message: `pays the same amount to the same address as row ${before}: remove it unless both are meant`,
      })
  }
}

/** Asks the screening lists, as every payout will again before it is signed. */
async function screen(ctx: Ctx, rows: readonly CheckedRow[]): Promise<void> {
  const isTest = ctx.entity.environment === 'TEST'
  const byRecipient = groupBy(paying(rows), ({ payment }) => `${payment.chain} ${payment.toAddress}`)
  const groups = [...byRecipient.values()]
  const decisions = await screenSubjects(
    ctx,
    groups.map(([row]) => {
      const { chain, address } = row!.recipient!
      return { ...screenedBusinessAddress(chain, address), text: address, isTest }
    }),
  )
  for (const [index, group] of groups.entries()) {
    const { actions, ruleName } = decisions[index]!
    for (const row of group) {
      if (actions.includes('DENY'))
        add(row, 'error', { column: 'address', message: `is denied by the screening rule ${ruleName}` })
      else if (actions.includes('REVIEW'))
        add(row, 'warning', {
          column: 'address',
          message: `will wait for the review of an operator, by the screening rule ${ruleName}`,
        })
    }
  }
}

/** Asks the policies over the treasury. Returns why the limits of periods have no room for the sum, if so. */
async function tryPolicies(ctx: Ctx, rows: readonly CheckedRow[]): Promise<string | undefined> {
  const known = paying(rows).flatMap((row) => {
    const chain = ctx.chains.find(row.payment.blockchain)
    const token = chain && stablecoinWithId(chain.network, row.payment.tokenId)
    if (!chain || !token) return []
    const { toAddress, amount } = row.payment
    const call = chain.payments.transferCall(toAddress, amount, tokenAddress(token))
    return [{ row, operation: { kind: 'transfer' as const, ...chain.payments.decodeCall(call) } }]
  })
  // A treasury has no policy of its own, and the ids of none are asked for.
  const { id } = ctx.entity
  const treasury = { id, walletSetId: id, keyId: id, address: '', state: 'LIVE' as const }
  const operations = known.map(({ operation }) => operation)
  const { refused, sum } = await tryTogether(ctx, treasury, operations)
  for (const [place, reason] of refused)
    add(known[place]!.row, 'error', { column: 'row', message: `is refused by the policy: ${reason}` })
  return sum
}
