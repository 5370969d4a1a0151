import { blockMutants } from './blocks.ts'
import { engineMutants } from './engine.ts'
import { journalMutants } from './journal.ts'
import { keyMutants } from './keys.ts'
import { moneyMutants } from './money.ts'
import type { Mutant } from './mutant.ts'
import { notificationMutants } from './notifications.ts'
import { policyMutants } from './policy.ts'
import { requestMutants } from './requests.ts'

export const mutants: readonly Mutant[] = [
  ...engineMutants,
  ...journalMutants,
  ...blockMutants,
  ...requestMutants,
  ...keyMutants,
  ...policyMutants,
  ...notificationMutants,
  ...moneyMutants,
]
