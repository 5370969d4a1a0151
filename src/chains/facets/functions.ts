import type { Address } from '../addresses/types.ts'
import { ValueProblem } from '../invalid-value.ts'
import type { Call } from './payments.ts'

/** A function that wallets of the chain do not call: its location in the request, and the reason. */
export class FunctionUnsupported extends ValueProblem {}

/** The functions of the chain itself that wallets call, where they call no others. */
export type Functions = {
  /**
   * The call of a function by its signature. Throws `FunctionUnsupported` for any other one, and `ValueProblem` for values that no
   * node would take.
   */
  callOf(contract: Address, signature: string, values: readonly unknown[]): Call & { to: Address }
}
