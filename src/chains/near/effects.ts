/** The effects of actions, as policy and screening see them. */

import { isNearAddress } from '../addresses/near.ts'
import type { Danger, Effects } from '../facets/call-effects.ts'
import type { NearAction } from './actions.ts'

type FoundActions = Effects & { blockchain: string; receiver: string }

/** The largest amount that the chain writes: no account has more. */
const everything = 2n ** 128n - 1n

/** Decodes the effects of actions on `receiver`. An action that is not understood is a call of an unknown function. */
export function effectsOfActions(
  blockchain: string,
  receiver: string,
  actions: readonly NearAction[],
): Effects {
  const found: FoundActions = { effects: [], dangers: [], parties: [], blockchain, receiver }
  for (const action of actions) addAction(found, action)
  const { effects, dangers, parties } = found
  return { effects, dangers: [...new Set(dangers)], parties: [{ blockchain, address: receiver }, ...parties] }
}

/** Code and keys of an account change who controls it. */
const dangersOf: { readonly [kind in NearAction['kind']]?: Danger } = {
  AddKey: 'upgrade',
  DeleteKey: 'upgrade',
  DeployContract: 'upgrade',
  UseGlobalContract: 'upgrade',
  DeployGlobalContract: 'contractCreation',
}

function addAction(found: FoundActions, action: NearAction): void {
  const { blockchain, receiver, parties, dangers } = found
  if (action.kind === 'Transfer') addTransfer(found, 'native', receiver, action.depositAtomic)
  else if (action.kind === 'DeleteAccount') addTransfer(found, 'native', action.beneficiary, everything)
  else if (action.kind === 'FunctionCall') addFunctionCall(found, action)
  else {
    addCall(found, action.kind)
    const danger = dangersOf[action.kind]
    if (danger) dangers.push(danger)
    if (action.kind === 'Delegate')
      for (const address of [action.sender, action.receiver]) parties.push({ blockchain, address })
  }
}

const addCall = ({ effects, blockchain, receiver }: FoundActions, selector: string): void =>
  void effects.push({ kind: 'call', blockchain, contract: receiver, selector, known: false })

const addTransfer = (
  { effects, blockchain }: FoundActions,
  token: string,
  destination: string | undefined,
  amountAtomic: bigint,
): void =>
  void effects.push({
    kind: 'transfer',
    blockchain,
    token,
    ...(destination !== undefined && { destination }),
    amountAtomic,
  })

/** Transfers of tokens (NEP-141) are calls that attach one unit of the native coin, which only proves a full access key. */
const attachedMax = 1n

function addFunctionCall(
  found: FoundActions,
  { method, args, depositAtomic }: Extract<NearAction, { kind: 'FunctionCall' }>,
): void {
  const transfer = method === 'ft_transfer' ? tokenTransferIn(args) : undefined
  if (transfer && depositAtomic <= attachedMax) {
    addTransfer(found, found.receiver, transfer.to, transfer.amountAtomic)
    return
  }
  addCall(found, method)
  if (depositAtomic > 0n) addTransfer(found, 'native', undefined, depositAtomic)
  const { blockchain } = found
  for (const address of accountsIn(args)) found.parties.push({ blockchain, address, guessed: true })
}

/** The recipient and the amount of `ft_transfer`; undefined for arguments that are not exactly of its form. */
function tokenTransferIn(args: Buffer): { to: string; amountAtomic: bigint } | undefined {
  const parsed = parse(args)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
  const { receiver_id: to, amount, memo = null, ...others } = parsed as Record<string, unknown>
  if (Object.keys(others).length > 0 || (memo !== null && typeof memo !== 'string')) return undefined
  if (typeof to !== 'string' || !isNearAddress(to)) return undefined
  if (typeof amount !== 'string' || !/^(0|[1-9]\d{0,38})$/.test(amount)) return undefined
  return isUnambiguous(args.toString('utf8')) ? { to, amountAtomic: BigInt(amount) } : undefined
}

/** Which value of a repeated name counts, and how names are unescaped, is the contract's own matter. */
const isUnambiguous = (text: string): boolean =>
  !text.includes('\\') && !/"(receiver_id|amount)"[\s\S]*"\1"\s*:/.test(text)

function parse(args: Buffer): unknown {
  try {
    return JSON.parse(args.toString('utf8'))
  } catch {
    return undefined
  }
}

const partiesMax = 64

/** The texts in arguments that may be accounts. */
const accountsIn = (args: Buffer): string[] =>
  [...args.toString('latin1').matchAll(/"([a-z\d._-]{2,64})"/g)]
    .map(([, text]) => text!)
    .filter(isNearAddress)
    .slice(0, partiesMax)
