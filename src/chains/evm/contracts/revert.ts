import { type Abi, decodeErrorResult, parseAbi } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import type { AbiError } from '../../facets/contracts.ts'
import type { RevertedCall } from '../../facets/effects.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { smartAccountAbi } from '../accounts/artifacts/smart-account.ts'
import { sponsorPaymasterAbi } from '../accounts/artifacts/sponsor-paymaster.ts'
import { tokenPaymasterAbi } from '../accounts/artifacts/token-paymaster.ts'
import { exactPermit2ProxyAbi } from '../infrastructure/artifacts/exact-permit2-proxy.ts'
import { uptoPermit2ProxyAbi } from '../infrastructure/artifacts/upto-permit2-proxy.ts'
import { hash, toQuantity } from '../rpc/quantities.ts'
import { type Rpc, RpcError } from '../rpc/rpc.ts'
import { gatewayMinterAbi } from '../unified-balance/artifacts/gateway-minter.ts'
import { gatewayWalletAbi } from '../unified-balance/artifacts/gateway-wallet.ts'

/**
 * Errors that are decoded by name: those of stablecoins, of unified balances, of smart accounts, of permits, and of contracts built
 * on well-known libraries.
 */
const knownErrors: Abi = [
  ...stablecoinAbi,
  ...[
    ...gatewayWalletAbi,
    ...gatewayMinterAbi,
    ...smartAccountAbi,
    ...sponsorPaymasterAbi,
    ...exactPermit2ProxyAbi,
    ...uptoPermit2ProxyAbi,
    ...tokenPaymasterAbi,
  ].filter(({ type }) => type === 'error'),
  ...parseAbi([
    'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'error ERC20InvalidApprover(address approver)',
    'error ERC20InvalidReceiver(address receiver)',
    'error ERC20InvalidSender(address sender)',
    'error ERC20InvalidSpender(address spender)',
    'error AccessControlUnauthorizedAccount(address account, bytes32 role)',
    'error EnforcedPause()',
    'error FailedCall()',
    'error OwnableUnauthorizedAccount(address account)',
    'error ReentrancyGuardReentrantCall()',
    'error InvalidContractSignature()',
    'error InvalidNonce()',
    'error InvalidSignatureLength()',
    'error InvalidSigner()',
    'error SignatureExpired(uint256 signatureDeadline)',
    'error SafeERC20FailedOperation(address token)',
  ]),
]

/** Revert texts of stablecoins, mapped to a wording that is the same for every issuer. */
const stableTexts: Record<string, string> = {
  'Pausable: paused': 'the token is paused',
  'Blacklistable: account is blacklisted': 'the token has blocklisted an account of this call',
}

const panics: Record<string, string> = {
  1: 'an assertion failed',
  17: 'arithmetic overflow or underflow',
  18: 'division by zero',
  33: 'a value outside its enumeration',
  34: 'wrongly encoded storage',
  49: 'pop from an empty array',
  50: 'an index outside its array',
  65: 'too much memory',
  81: 'a call of an uninitialised function',
}

const dataBytesMax = 16_384
const textMax = 300
const replayTimeoutMs = 3_000
/** Nodes without history report so permanently; any other error is worth a retry. */
const goneState = /missing trie node|pruned|historical state|state (is )?(not|no longer) available|no state/i

/**
 * The reason that a node gives for a revert, in one line. Its texts come from contracts: they are cleaned and cut. `errors`
 * are further ones that are decoded by name.
 */
export function explainRevert({ message, data }: RpcError, errors: readonly AbiError[] = []): string {
  const bytes = revertData(data)
  const reason = bytes === undefined ? reasonIn(message) : explainData(bytes, errors)
  return `the call reverts: ${reason}`
}

/** The failure that a node names for execution that ended without a revert. */
export const explainHalt = ({ message }: RpcError): string => `the call fails: ${quoteReason(message)}`

/** Nodes put the bytes into `data`, or one level below it. */
export function revertData(data: unknown): Hex | undefined {
  const inner = typeof data === 'object' && data !== null && 'data' in data ? data.data : data
  return isHex(inner) && inner.length > 2 && inner.length <= 2 + 2 * dataBytesMax ? inner : undefined
}

function reasonIn(message: string): string {
  if (outOfGas.test(message)) return 'it runs out of gas'
  const [, said] = /reverted(?: with reason string)?:? (.+)/is.exec(message) ?? []
  return said === undefined ? 'no reason is given' : quoteReason(said.replaceAll(/^'|'$/g, ''))
}

function explainData(data: Hex, errors: readonly AbiError[] = []): string {
  if (data.length < 10) return `the bytes ${data}`
  try {
    const abi = [...knownErrors, ...errors.map((error) => ({ type: 'error', ...error }))] as Abi
    const { errorName, args = [] } = decodeErrorResult({ abi, data })
    if (errorName === 'Error') return quoteReason(String(args[0]))
    if (errorName === 'Panic')
      return `panic ${toQuantity(args[0] as bigint)}, ${panics[String(args[0])] ?? 'unknown'}`
    return clean(`${errorName}(${args.map(textOf).join(', ')})`)
  } catch {
    return `custom error ${data.slice(0, 10)}, with ${data.length / 2 - 5} bytes of arguments`
  }
}

/**
 * The text of a revert as its contract wrote it, or the words for another kind of error; `undefined` where a contract returned
 * nothing.
 */
export function textOfRevert(data: Hex): string | undefined {
  if (data === '0x') return undefined
  const explained = explainData(data)
  const [, text] = /^"(.*)"$/s.exec(explained) ?? []
  return text ?? explained
}

const textOf = (value: unknown): string =>
  typeof value === 'object'
    ? JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? each.toString() : each))
    : String(value)

/** A text of a contract, or of a node about one, cleaned for display. */
function quoteReason(text: string): string {
  const stable = stableTexts[text]
  return stable === undefined ? `"${clean(text)}"` : `${stable} (${text})`
}

const clean = (text: string) => text.slice(0, textMax).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?')

/**
 * Returns the reason why a transaction reverted in its block: replays the call at the parent block, and at the block itself
 * when it succeeds there. `undefined` when neither reverts, or the node no longer has that state.
 */
export async function replayRevert(
  rpc: Rpc,
  { from, call, gasLimit, block: { hash: blockHash } }: RevertedCall,
  errors: readonly AbiError[] = [],
): Promise<string | undefined> {
  const block = await rpc.call<{ parentHash?: unknown } | null>('eth_getBlockByHash', [blockHash, false], {
    timeoutMs: replayTimeoutMs,
  })
  if (!block) return undefined
  const { to, valueAtomic, data } = call
  const request = { from, ...(to && { to }), data, value: toQuantity(valueAtomic), gas: toQuantity(gasLimit) }
  for (const at of [hash(block.parentHash, 'parent hash'), blockHash as Hex]) {
    try {
      await rpc.call('eth_call', [request, { blockHash: at }], {
        timeoutMs: replayTimeoutMs,
      })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (isRevert(error) || outOfGas.test(error.message)) return explainRevert(error, errors)
      if (isHalt(error)) return explainHalt(error)
      if (!goneState.test(error.message)) throw error
    }
  }
  return undefined
}

/** Execution that used all its gas. */
export const outOfGas = /out ?of ?gas/i

/** Whether an error is a revert: code 3 by convention; some nodes report it in the message only. */
export const isRevert = ({ rpcCode, message }: RpcError): boolean => rpcCode === 3 || /revert/i.test(message)

/** Execution that failed without a revert, in the words of geth, Nethermind, Besu, Reth and anvil. */
const haltPattern =
  /invalid opcode|bad instruction|invalid jump|stack (underflow|overflow|limit reached)|write protection|vm execution error|\bevm error:? (?!outof(gas|funds))\w/i
/** Nethermind's code for execution that failed. */
const haltCode = -32015

/** Whether an error says that execution failed without a revert, by an invalid opcode for example. */
export const isHalt = ({ rpcCode, message }: RpcError): boolean =>
  rpcCode === haltCode || haltPattern.test(message)
