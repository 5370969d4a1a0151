import { blockMutants } from './blocks.ts'
import { callerMutants } from './callers.ts'
import { engineMutants } from './engine.ts'
import { hostMutants } from './hosts.ts'
import { journalMutants } from './journal.ts'
import { keyMutants } from './keys.ts'
import { moneyMutants } from './money.ts'
import type { Mutant } from './mutant.ts'
import { notificationMutants } from './notifications.ts'
import { operatorMutants } from './operators.ts'
import { policyMutants } from './policy.ts'
import { requestMutants } from './requests.ts'
import { turnMutants } from './turns.ts'

export const mutants: readonly Mutant[] = [
  ...engineMutants,
  ...journalMutants,
  ...blockMutants,
  ...requestMutants,
  ...keyMutants,
  ...policyMutants,
  ...notificationMutants,
  ...moneyMutants,
  ...hostMutants,
  ...callerMutants,
  ...turnMutants,
  ...operatorMutants,
]
