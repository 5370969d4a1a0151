/** Methods that read the ledger. */

import { encodeBase58 } from '#chains/addresses/base-encodings'
import { Unreadable } from '#chains/binary-reader'
import { refusalCodes } from '#chains/solana/rpc/codes'
import { readMessage } from '#chains/solana/transaction'
import { blockhashAgeMax, type SlotBlock } from './blocks.ts'
import { SolanaRpcError } from './errors.ts'
import { budgetOf, transactionFee } from './fees.ts'
import { isRecent } from './ledger.ts'
import {
  addressParam,
  bytesParam,
  configParam,
  hashParam,
  listParam,
  numberParam,
  type RpcConfig,
  signatureParam,
} from './params.ts'
import { mintIn, tokenAccountIn, tokenPrograms } from './programs.ts'
import { isWritable } from './received.ts'
import { showAccount, uiAmount, wholeNumber } from './show-accounts.ts'
import { outcomeStatus, showBanked, showSlot } from './show-blocks.ts'
import { blockFor, type SolanaView } from './view.ts'

export type NodeMethod = (view: SolanaView, params: readonly unknown[]) => unknown

const slotsPerEpoch = 432_000
const version = { 'solana-core': '3.0.0', 'feature-set': 0 }

const contextOf = ({ slot }: SlotBlock) => ({ apiVersion: version['solana-core'], slot })
export const inContext = (block: SlotBlock, value: unknown) => ({ context: contextOf(block), value })

const timeOf = ({ faults }: SolanaView, { timeS }: SlotBlock) => (faults.omitsBlockTime ? null : timeS)

/** A transaction of a block up to this one, unless the endpoint hides it. */
export function foundIn(view: SolanaView, signature: string, block: SlotBlock) {
  const found = view.ledger.bySignature.get(signature)
  return found && found.slot <= block.slot && !view.faults.hidden?.includes(signature) ? found : undefined
}

/** The blocks of a view without what the endpoint hides. */
function shownBlock({ faults }: SolanaView, block: SlotBlock): SlotBlock {
  const { hidden } = faults
  if (!hidden) return block
  const transactions = block.transactions.filter(({ transaction }) => !hidden.includes(transaction.signature))
  return { ...block, transactions }
}

const epochInfo: NodeMethod = (view, [config]) => {
  const block = blockFor(view, configParam(config))
  return {
    absoluteSlot: block.slot,
    blockHeight: block.height,
    epoch: Math.floor(block.slot / slotsPerEpoch),
    slotIndex: block.slot % slotsPerEpoch,
    slotsInEpoch: slotsPerEpoch,
    transactionCount: view.ledger.bySignature.size,
  }
}

const latestBlockhash: NodeMethod = (view, [config]) => {
  const block = blockFor(view, configParam(config))
  return inContext(block, {
    blockhash: block.hash,
    lastValidBlockHeight: block.height + blockhashAgeMax,
  })
}

const feeForMessage: NodeMethod = (view, [message, config]) => {
  const block = blockFor(view, configParam(config))
  try {
    const read = readMessage(bytesParam(message, 'base64'))
    return inContext(
      block,
      isRecent(view.ledger, read.blockhash, block) ? wholeNumber(transactionFee(read)) : null,
    )
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new SolanaRpcError(
      'invalidParams',
      `failed to deserialize solana_message::VersionedMessage: it ${error.message}`,
    )
  }
}

const feeBlocks = 150

/** The least price of a transaction of each block that writes to one of the accounts. */
const recentFees: NodeMethod = ({ ledger, head }, [addresses]) => {
  const wanted = addresses === undefined ? [] : listParam(addresses, 128).map(addressParam)
  return ledger.blocks.slice(Math.max(1, head.height - feeBlocks + 1), head.height + 1).map((block) => {
    const prices = block.transactions
      .map(({ transaction }) => transaction)
      .filter((transaction) =>
        wanted.every((address) =>
          transaction.accounts.some((each, place) => each === address && isWritable(transaction, place)),
        ),
      )
      .map(({ message }) => budgetOf(message).price)
    const least = prices.reduce<bigint | undefined>(
      (low, price) => (low === undefined || price < low ? price : low),
      undefined,
    )
    return { slot: block.slot, prioritizationFee: wholeNumber(least ?? 0n) }
  })
}

const accountInfo: NodeMethod = (view, [address, given]) => {
  const config = configParam(given)
  const block = blockFor(view, config)
  return inContext(block, shownAccount(view, block, addressParam(address), config))
}

export function shownAccount(view: SolanaView, block: SlotBlock, address: string, config: RpcConfig) {
  const accountOf = (each: string) => view.account(each, block)
  const account = accountOf(address)
  return account ? showAccount(account, config, accountOf) : null
}

const multipleAccounts: NodeMethod = (view, [addresses, given]) => {
  const config: RpcConfig = { encoding: 'base64', ...configParam(given) }
  const block = blockFor(view, config)
  const wanted = listParam(addresses, 100).map(addressParam)
  return inContext(
    block,
    wanted.map((address) => shownAccount(view, block, address, config)),
  )
}

/** Accounts of token programs as they were after a block. */
function tokenAccountsAt(view: SolanaView, block: SlotBlock) {
  const later = view.ledger.blocks.slice(block.height + 1).flatMap(({ changed }) => [...changed.keys()])
  const now = tokenPrograms.flatMap((program) => view.ledger.vm.accountsOf(program))
  return [...new Set([...now.map(([address]) => address), ...later])].flatMap((address) => {
    const account = view.account(address, block)
    const held = tokenAccountIn(account)
    return account && held ? [{ address, account, held }] : []
  })
}

const tokenAccountsByOwner: NodeMethod = (view, [owner, filter, given]) => {
  const config = configParam(given)
  const block = blockFor(view, config)
  const address = addressParam(owner)
  const { mint, programId } = configParam(filter)
  const isWanted = (found: ReturnType<typeof tokenAccountsAt>[number]) =>
    mint !== undefined
      ? found.held.mint === addressParam(mint)
      : found.account.owner === addressParam(programId)
  const accountOf = (each: string) => view.account(each, block)
  return inContext(
    block,
    tokenAccountsAt(view, block)
      .filter((found) => found.held.owner === address && isWanted(found))
      .map((found) => ({
        pubkey: found.address,
        account: showAccount(found.account, config, accountOf),
      })),
  )
}

const tokenAccountBalance: NodeMethod = (view, [address, config]) => {
  const block = blockFor(view, configParam(config))
  const held = tokenAccountIn(view.account(addressParam(address), block))
  if (!held) throw new SolanaRpcError('invalidParams', 'Invalid param: not a Token account')
  const decimals = mintIn(view.account(held.mint, block))?.decimals ?? 0
  return inContext(block, uiAmount(held.amount, decimals))
}

const tokenSupply: NodeMethod = (view, [address, config]) => {
  const block = blockFor(view, configParam(config))
  const mint = mintIn(view.account(addressParam(address), block))
  if (!mint) throw new SolanaRpcError('invalidParams', 'Invalid param: not a Token mint')
  return inContext(block, uiAmount(mint.supply, mint.decimals))
}

const signatureStatuses: NodeMethod = (view, [signatures, given]) => {
  const wanted = listParam(signatures, 256).map(signatureParam)
  const isSearching = configParam(given)['searchTransactionHistory'] === true
  const value = wanted.map((signature) => {
    const found = foundIn(view, signature, view.head)
    const block = found && view.ledger.bySlot.get(found.slot)!
    if (!block || (!isSearching && view.head.height - block.height > blockhashAgeMax)) return null
    const isFinal = block.height <= view.finalized.height
    return {
      slot: block.slot,
      confirmations: isFinal ? null : view.head.height - block.height,
      err: found.outcome.error ?? null,
      status: outcomeStatus(found.outcome),
      confirmationStatus: isFinal ? 'finalized' : 'confirmed',
    }
  })
  return inContext(view.head, value)
}

/** Signatures of transactions that name an address, newest first. */
const signaturesForAddress: NodeMethod = (view, [address, given]) => {
  const config = configParam(given)
  const wanted = addressParam(address)
  const top = blockFor(view, config)
  const { before, until, limit = 1000 } = config
  const most = numberParam(limit, 'a limit')
  if (most < 1 || most > 1000) throw new SolanaRpcError('invalidParams', 'Invalid limit; max 1000')
  const all = view.ledger.blocks
    .slice(0, top.height + 1)
    .flatMap((block) => shownBlock(view, block).transactions.map((executed) => ({ block, executed })))
    .reverse()
  const places = all.map(({ executed }) => executed.transaction.signature)
  const start = before === undefined ? 0 : places.indexOf(signatureParam(before)) + 1
  const end = until === undefined ? all.length : places.indexOf(signatureParam(until))
  return all
    .slice(start, end < 0 ? all.length : end)
    .filter(({ executed }) => executed.transaction.accounts.includes(wanted))
    .slice(0, most)
    .map(({ block, executed }) => ({
      signature: executed.transaction.signature,
      slot: block.slot,
      err: executed.outcome.error ?? null,
      memo: null,
      blockTime: timeOf(view, block),
      confirmationStatus: block.height <= view.finalized.height ? 'finalized' : 'confirmed',
    }))
}

const transaction: NodeMethod = (view, [signature, given]) => {
  const config = configParam(given)
  const found = foundIn(view, signatureParam(signature), blockFor(view, config))
  if (!found) return null
  const block = view.ledger.bySlot.get(found.slot)!
  return { slot: block.slot, blockTime: timeOf(view, block), ...showBanked(found, config) }
}

/** The block of a slot; throws as nodes do where it has none, or none yet of this commitment. */
function blockIn(view: SolanaView, slot: number, config: RpcConfig): SlotBlock {
  const top = blockFor(view, config)
  if (slot > top.slot) throw new SolanaRpcError('blockNotAvailable', `Block not available for slot ${slot}`)
  const block = view.ledger.bySlot.get(slot)
  if (!block)
    throw new SolanaRpcError(
      'slotSkipped',
      `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
    )
  return block
}

const block: NodeMethod = (view, [slot, given]) => {
  const config = configParam(given)
  const found = blockIn(view, numberParam(slot), config)
  return showSlot(shownBlock(view, found), config, timeOf(view, found))
}

const blockTime: NodeMethod = (view, [slot]) =>
  timeOf(view, blockIn(view, numberParam(slot), { commitment: 'processed' }))

const blocksMax = 500_000

const slotsFrom = (view: SolanaView, first: number, last: number, config: RpcConfig): number[] => {
  const top = blockFor(view, config)
  return view.ledger.blocks
    .slice(0, top.height + 1)
    .map(({ slot }) => slot)
    .filter((slot) => slot >= first && slot <= last)
}

const blocks: NodeMethod = (view, [start, end, given]) => {
  const config = configParam(typeof end === 'object' ? end : given)
  const first = numberParam(start)
  const last =
    end === undefined || end === null || typeof end === 'object' ? first + blocksMax : numberParam(end)
  if (last - first > blocksMax)
    throw new SolanaRpcError('invalidParams', `Slot range too large; max ${blocksMax}`)
  return slotsFrom(view, first, last, config)
}

const blocksWithLimit: NodeMethod = (view, [start, limit, given]) => {
  const most = numberParam(limit)
  if (most > blocksMax) throw new SolanaRpcError('invalidParams', `Limit too large; max ${blocksMax}`)
  return slotsFrom(view, numberParam(start), Number.MAX_SAFE_INTEGER, configParam(given)).slice(0, most)
}

const isBlockhashValid: NodeMethod = (view, [blockhash, given]) => {
  const at = blockFor(view, configParam(given))
  return inContext(at, isRecent(view.ledger, hashParam(blockhash), at))
}

/** Whether the endpoint keeps up; a real node says how far it is behind the others that it knows. */
const health: NodeMethod = ({ faults }) => {
  if (!faults.lagBlocks) return 'ok'
  throw new SolanaRpcError('unhealthy', `Node is behind by ${faults.lagBlocks} slots`, {
    numSlotsBehind: faults.lagBlocks,
  })
}

export const readMethods: Readonly<Record<string, NodeMethod>> = {
  getHealth: health,
  getVersion: () => version,
  getIdentity: () => ({ identity: encodeBase58(Buffer.alloc(32, 1)) }),
  getGenesisHash: ({ ledger, faults }) => faults.genesisHash ?? ledger.genesisHash,
  getSlot: (view, [config]) => blockFor(view, configParam(config)).slot,
  getBlockHeight: (view, [config]) => blockFor(view, configParam(config)).height,
  getEpochInfo: epochInfo,
  getTransactionCount: ({ ledger }) => ledger.bySignature.size,
  getFirstAvailableBlock: () => 0,
  minimumLedgerSlot: () => 0,
  getLatestBlockhash: latestBlockhash,
  isBlockhashValid,
  getFeeForMessage: feeForMessage,
  getRecentPrioritizationFees: recentFees,
  getMinimumBalanceForRentExemption: ({ ledger }, [bytes]) =>
    wholeNumber(ledger.vm.rentExempt(numberParam(bytes, 'usize'))),
  getBalance: (view, [address, config]) => {
    const at = blockFor(view, configParam(config))
    return inContext(at, wholeNumber(view.account(addressParam(address), at)?.lamports ?? 0n))
  },
  getAccountInfo: accountInfo,
  getMultipleAccounts: multipleAccounts,
  getTokenAccountsByOwner: tokenAccountsByOwner,
  getTokenAccountBalance: tokenAccountBalance,
  getTokenSupply: tokenSupply,
  getSignatureStatuses: signatureStatuses,
  getSignaturesForAddress: signaturesForAddress,
  getTransaction: transaction,
  getBlock: block,
  getBlockTime: blockTime,
  getBlocks: blocks,
  getBlocksWithLimit: blocksWithLimit,
}

/** The error of JSON-RPC for what a method threw. */
export function errorBody(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof SolanaRpcError))
    return { code: refusalCodes.internal, message: error instanceof Error ? error.message : String(error) }
  const { kind, message, data } = error
  return { code: refusalCodes[kind], message, ...(data !== undefined && { data }) }
}
