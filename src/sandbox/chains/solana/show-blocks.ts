import { base58 } from '@scure/base'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import type { AccountBalances, BankedTransaction, SlotBlock } from './blocks.ts'
import { SolanaRpcError } from './errors.ts'
import type { RpcConfig } from './params.ts'
import { isWritable, type LoadedTransaction } from './received.ts'
import { uiAmount, wholeNumber } from './show-accounts.ts'
import type { VmOutcome } from './vm.ts'

/** The status of an outcome in the form of older nodes, beside `err`. */
export const outcomeStatus = ({ error }: VmOutcome) => (error === undefined ? { Ok: null } : { Err: error })

const showTokens = ({ tokens }: AccountBalances) =>
  tokens.map(({ place, mint, owner, program, amount, decimals }) => ({
    accountIndex: place,
    mint,
    owner,
    programId: program,
    uiTokenAmount: uiAmount(amount, decimals),
  }))

/** The data that a program returned. */
export const showReturned = ({ program, data }: NonNullable<VmOutcome['returned']>) => ({
  programId: program,
  data: [data.toString('base64'), 'base64'],
})

/** The outcome of a transaction with the balances before and after it. */
function showMeta(executed: BankedTransaction) {
  const { transaction, outcome, feeLamports, before, after } = executed
  return {
    err: outcome.error ?? null,
    status: outcomeStatus(outcome),
    fee: wholeNumber(feeLamports),
    preBalances: before.lamports.map(wholeNumber),
    postBalances: after.lamports.map(wholeNumber),
    preTokenBalances: showTokens(before),
    postTokenBalances: showTokens(after),
    innerInstructions: outcome.inner.flatMap((calls, index) =>
      calls.length === 0
        ? []
        : [
            {
              index,
              instructions: calls.map(({ program, accounts, data, stackHeight }) => ({
                programIdIndex: program,
                accounts,
                data: encodeBase58(data),
                stackHeight,
              })),
            },
          ],
    ),
    logMessages: outcome.logs,
    loadedAddresses: transaction.loaded,
    computeUnitsConsumed: wholeNumber(outcome.computeUnits),
    rewards: [],
    ...(outcome.returned && { returnData: showReturned(outcome.returned) }),
  }
}

/** The version, which callers must say that they can read unless it is the legacy one. */
function requireVersion({ message }: LoadedTransaction, most: unknown): void {
  if (message.version === 'legacy' || typeof most === 'number') return
  throw new SolanaRpcError(
    'unsupportedVersion',
    `Transaction version (${message.version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${message.version}`,
  )
}

const versionOf = ({ message }: LoadedTransaction, most: unknown) =>
  typeof most === 'number' ? { version: message.version } : {}

function showKeys(transaction: LoadedTransaction) {
  const { message, accounts } = transaction
  return accounts.map((pubkey, place) => ({
    pubkey,
    signer: place < message.counts.signers,
    writable: isWritable(transaction, place),
    source: place < message.keys.length ? 'transaction' : 'lookupTable',
  }))
}

function showMessage(transaction: LoadedTransaction, isParsed: boolean) {
  const { message, accounts } = transaction
  const base = { recentBlockhash: message.blockhash }
  if (isParsed)
    return {
      ...base,
      accountKeys: showKeys(transaction),
      // As nodes show those of programs that they do not know.
      instructions: message.placed.map((each) => ({
        programId: accounts[each.program],
        accounts: each.accounts.map((place) => accounts[place]),
        data: encodeBase58(each.data),
        stackHeight: 1,
      })),
    }
  const { signers, readonlySigners, readonlyOthers } = message.counts
  return {
    ...base,
    header: {
      numRequiredSignatures: signers,
      numReadonlySignedAccounts: readonlySigners,
      numReadonlyUnsignedAccounts: readonlyOthers,
    },
    accountKeys: message.keys,
    instructions: message.placed.map(({ program, accounts: places, data }) => ({
      programIdIndex: program,
      accounts: places,
      data: encodeBase58(data),
      stackHeight: 1,
    })),
    ...(message.version === 0 && {
      addressTableLookups: message.lookups.map(({ table, writable, readonly }) => ({
        accountKey: table,
        writableIndexes: writable,
        readonlyIndexes: readonly,
      })),
    }),
  }
}

/** The transaction in an encoding of its own. */
function showEncoded(transaction: LoadedTransaction, encoding: unknown) {
  const { wire, signatures } = transaction
  if (encoding === 'base64') return [wire.toString('base64'), 'base64']
  if (encoding === 'base58') return [base58.encode(wire), 'base58']
  if (encoding !== undefined && encoding !== 'json' && encoding !== 'jsonParsed')
    throw new SolanaRpcError(
      'invalidParams',
      `Invalid params: unknown variant \`${String(encoding)}\`, expected one of \`json\`, \`jsonParsed\`, \`base58\`, \`base64\`.`,
    )
  return {
    signatures: signatures.map(encodeBase58),
    message: showMessage(transaction, encoding === 'jsonParsed'),
  }
}

/** Shows a transaction with its outcome. */
export function showBanked(
  executed: BankedTransaction,
  { encoding, maxSupportedTransactionVersion: most }: RpcConfig,
) {
  const { transaction } = executed
  requireVersion(transaction, most)
  return {
    transaction: showEncoded(transaction, encoding),
    meta: showMeta(executed),
    ...versionOf(transaction, most),
  }
}

/** Shows a transaction with the accounts alone. */
function showBrief(executed: BankedTransaction, most: unknown) {
  const { transaction } = executed
  requireVersion(transaction, most)
  const { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } =
    showMeta(executed)
  return {
    transaction: {
      signatures: transaction.signatures.map(encodeBase58),
      accountKeys: showKeys(transaction),
    },
    meta: { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances },
    ...versionOf(transaction, most),
  }
}

/** Shows a block with as much of its transactions as the caller asks for. */
export function showSlot(block: SlotBlock, config: RpcConfig, blockTime: number | null) {
  const { transactionDetails = 'full', maxSupportedTransactionVersion: most } = config
  const details = () => {
    if (transactionDetails === 'full')
      return { transactions: block.transactions.map((each) => showBanked(each, config)) }
    if (transactionDetails === 'accounts')
      return { transactions: block.transactions.map((each) => showBrief(each, most)) }
    if (transactionDetails === 'signatures')
      return { signatures: block.transactions.map(({ transaction }) => transaction.signature) }
    if (transactionDetails === 'none') return {}
    throw new SolanaRpcError(
      'invalidParams',
      `Invalid params: unknown variant \`${String(transactionDetails)}\`, expected one of \`full\`, \`signatures\`, \`none\`, \`accounts\`.`,
    )
  }
  return {
    blockHeight: block.height,
    blockTime,
    blockhash: block.hash,
    parentSlot: block.parentSlot,
    previousBlockhash: block.parentHash,
    ...details(),
    ...(config['rewards'] === false ? {} : { rewards: [] }),
  }
}
