/** Hook data that has the executor of the destination use what a burn mints: see ExecutorHook.sol. */
import { type Address as EvmAddress, parseAbiParameters, toFunctionSelector } from 'viem'
import type { Hex } from '#lib/hex'
import { executorCallOf } from '../../crosschain/forward-hook.ts'
import { decodeExactly } from '../effects/decode-exactly.ts'

const callParameters = parseAbiParameters('uint8 version, bytes32 recovery, address handler, bytes data')
const depositParameters = parseAbiParameters(
  'address depositContract, address approvalTarget, bytes depositCall, uint256[] amountPlaces',
)
const depositForParameters = parseAbiParameters('address token, address depositor, uint256 value')
const depositForSelector = toFunctionSelector('depositFor(address,address,uint256)')
/** The place of `value` in a call of `depositFor`: another one would change the token or the depositor. */
const valuePlace = 68n

/** `recovery` is an account as a word. */
type ExecutorHook = { recovery: Hex; handler: EvmAddress; data: Hex }

/** The call in hook data as the executor reads it; `undefined` where there is none that it can read. */
export function decodeExecutorHook(hookData: Hex): ExecutorHook | undefined {
  const call = executorCallOf(hookData)
  const [version, recovery, handler, data] = (call && decodeExactly(callParameters, call)) ?? []
  if (version !== 1 || recovery === undefined || handler === undefined || data === undefined) return undefined
  return BigInt(recovery) !== 0n && BigInt(recovery) < 2n ** 160n ? { recovery, handler, data } : undefined
}

/** Accounts that hold the coins of a call one after another, or get power over them; `undefined` where they are not known. */
export function payeesOfExecution({ handler, data }: ExecutorHook): EvmAddress[] | undefined {
  const [depositContract, approvalTarget, depositCall, places] = decodeExactly(depositParameters, data) ?? []
  if (!depositContract || !approvalTarget || !depositCall?.startsWith(depositForSelector)) return undefined
  const [, depositor] = decodeExactly(depositForParameters, `0x${depositCall.slice(10)}`) ?? []
  if (!depositor || places?.length !== 1 || places[0] !== valuePlace) return undefined
  return [handler, depositContract, approvalTarget, depositor]
}
