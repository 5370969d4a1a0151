import type { ReadAsker } from '../../chain.ts'
import { createTurns, type TurnsInput } from '../../nodes/turns.ts'
import type { Endpoints } from './endpoints.ts'
import { createJointExecutions } from './joint-executions.ts'
import type { Rpc } from './rpc.ts'

/** The methods with which a node executes code that a request chooses. */
const executing: readonly string[] = ['eth_call', 'eth_estimateGas']

type ReadTurns = {
  /** The same endpoints for one asker: each request waits for its turn. */
  inTurnOf(asker: ReadAsker): Endpoints
  /** Calls with little gas, of which several may share a turn of the asker. */
  sharingTurnsOf(asker: ReadAsker): Rpc['call']
  /** Number of reads that wait for their turn. */
  waiting(): number
}

const kindOf = (methods: readonly string[]) =>
  methods.some((method) => executing.includes(method)) ? 'execution' : 'lookup'

export function createReadTurns(rpc: Endpoints, input: TurnsInput): ReadTurns {
  const turns = createTurns(input)
  const share = createJointExecutions(rpc)
  return {
    inTurnOf: (asker) => {
      const inTurn = turns.of(asker)
      return {
        ...rpc,
        call: (method, params, limits) => inTurn(kindOf([method]), () => rpc.call(method, params, limits)),
        batch: (calls, limits) => {
          const methods = calls.map(({ method }) => method)
          return inTurn(kindOf(methods), () => rpc.batch(calls, limits))
        },
      }
    },
    sharingTurnsOf: (asker) => share(asker, turns.of(asker)),
    waiting: turns.waiting,
  }
}
