import type { ReadAsker } from '../../chain.ts'
import type { InTurn } from '../../nodes/turns.ts'
import type { Rpc } from './rpc.ts'
import { type AnswerLimits, type RpcCall, RpcError } from './rpc-errors.ts'

/** Most executions that share a request. With the gas that each may use, they take no more than one call of another kind may. */
const jointMax = 16

type JointExecution = { call: RpcCall; resolve(result: unknown): void; reject(error: unknown): void }

/** Asks for small executions of one asker: those that wait for its turn go in one request when it comes. */
type ShareTurns = (asker: ReadAsker, inTurn: InTurn) => Rpc['call']

export function createJointExecutions({ batch }: Pick<Rpc, 'batch'>): ShareTurns {
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
        return batch<unknown>(
          group.map(({ call }) => call),
          limits,
        )
      })
      for (const [index, { resolve, reject }] of group.entries()) {
        const answer = answers[index]
        if (answer instanceof RpcError) reject(answer)
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
