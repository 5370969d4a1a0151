import type { ReadAsker } from '../../chain.ts'
import type { InTurn } from '../../nodes/turns.ts'
import { isEndpointFault, isLimited } from './endpoint-faults.ts'
import type { Rpc } from './rpc.ts'
import { type AnswerLimits, AnswerTooLarge, type RpcCall } from './rpc-errors.ts'

/** Most executions that share a request. With the gas that each may use, they take no more than one call of another kind may. */
const jointMax = 16

type JointExecution = { call: RpcCall; resolve(result: unknown): void; reject(error: unknown): void }

/** Asks for small executions of one asker: those that wait for its turn go in one request when it comes. */
type ShareTurns = (asker: ReadAsker, inTurn: InTurn) => Rpc['call']

export function createJointExecutions(rpc: Pick<Rpc, 'batch' | 'call'>): ShareTurns {
  /** The executions of each asker that the next request takes. */
  const gathering = new Map<string, JointExecution[]>()
  const ask = async (
    key: string,
    group: JointExecution[],
    inTurn: InTurn,
    limits: AnswerLimits | undefined,
  ) => {
    const close = () => {
      if (gathering.get(key) === group) gathering.delete(key)
    }
    try {
      const answers = await inTurn('execution', () => {
        close()
        return answersTo(
          rpc,
          group.map(({ call }) => call),
          limits,
        )
      })
      for (const [index, { resolve, reject }] of group.entries()) {
        const answer = answers[index]
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      }
    } catch (error) {
      close()
      for (const { reject } of group) reject(error)
    }
  }
  return ({ name, part = '' }, inTurn) => {
    const key = JSON.stringify([name, part])
    return (method, params, limits) =>
      new Promise((resolve, reject) => {
        const execution = { call: { method, params }, resolve: resolve as JointExecution['resolve'], reject }
        const group = gathering.get(key)
        if (group && group.length < jointMax) return void group.push(execution)
        const own = [execution]
        gathering.set(key, own)
        void ask(key, own, inTurn, limits)
      })
  }
}

/**
 * The results of calls, or their errors, by one request. A payer's contract decides how long its answer is, and makes none of another too
 * long; a node that lacks the state is passed over, as for single calls. These are asked for one by one.
 */
async function answersTo(
  rpc: Pick<Rpc, 'batch' | 'call'>,
  calls: readonly RpcCall[],
  limits: AnswerLimits | undefined,
): Promise<unknown[]> {
  const alone = ({ method, params }: RpcCall) =>
    rpc.call(method, params, limits).catch((error: Error) => error)
  const [first] = calls
  if (first && calls.length === 1) return [await alone(first)]
  const joint = await rpc.batch<unknown>(calls, limits).catch((error) => {
    if (error instanceof AnswerTooLarge) return undefined
    throw error
  })
  const answers: unknown[] = []
  for (const [index, call] of calls.entries()) {
    const answer = joint?.[index]
    const isAskedAgain = !joint || (isEndpointFault(answer) && !isLimited(answer))
    answers.push(isAskedAgain ? await alone(call) : answer)
  }
  return answers
}
