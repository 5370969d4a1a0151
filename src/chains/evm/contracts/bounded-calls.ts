/**
 * Calls untrusted contracts. The gas of a call bounds the time of a node and, by the price of memory, the size of its
 * answer, so that a contract cannot make a healthy endpoint look slow or broken.
 */
import { type Hex, isHex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import { decimalsMax } from '../../facets/tokens.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { isLimitCode, type RpcCall } from '../rpc/rpc-errors.ts'
import { isRevert } from './revert.ts'

const readGas = 500_000n
const limits = { timeoutMs: 10_000 }
/** Number of calls in one batch: each may answer with all the memory that its gas buys. */
const callsMax = 20

type Asked = { to: Address; data: Hex }

/** The answer of each call; `undefined` for one that the contract does not answer, and the error of one that the node refuses. */
export async function askAll(
  rpc: Rpc,
  calls: readonly Asked[],
  at: unknown = 'latest',
): Promise<(Hex | undefined | RpcError)[]> {
  const answers: (Hex | undefined | RpcError)[] = []
  for (let from = 0; from < calls.length; from += callsMax) {
    const asked = calls.slice(from, from + callsMax).map((call) => boundedCall(call, at))
    for (const answer of await rpc.batch<unknown>(asked, limits)) answers.push(answerOf(answer))
  }
  return answers
}

export const boundedCall = ({ to, data }: Asked, at: unknown = 'latest'): RpcCall => ({
  method: 'eth_call',
  params: [{ to, data, gas: toQuantity(readGas) }, at],
})

function answerOf(answer: unknown): Hex | undefined | RpcError {
  if (isHex(answer)) return answer
  if (!(answer instanceof RpcError)) throw new NodeUnreachable('the answer to a call is not hexadecimal')
  if (isLimitCode(answer.rpcCode)) throw answer
  return isFaultOfContract(answer) ? undefined : answer
}

/** Codes of the machine that runs the contract, as nodes word them. */
const faults =
  /out ?of ?gas|invalid (opcode|jump)|opcode|stack (under|over)flow|execution (error|halted)|evm error/i

/** Whether a contract gives no answer, rather than the node. */
export const isFaultOfContract = (error: RpcError) => isRevert(error) || faults.test(error.message)

/** The first word of an answer: contracts return more than they should, and it is not read. */
export const wordIn = (answer: Hex | undefined): bigint | undefined =>
  answer !== undefined && answer.length >= 66 ? BigInt(answer.slice(0, 66)) : undefined

export function decimalsIn(answer: Hex | undefined | RpcError): number | undefined {
  const word = answer instanceof RpcError ? undefined : wordIn(answer)
  return word === undefined || word > BigInt(decimalsMax) ? undefined : Number(word)
}
