import { accountMutants } from './accounts.ts'
import { auditMutants } from './audit.ts'
import { blockMutants } from './blocks.ts'
import { bookMutants } from './books.ts'
import { challengeMutants } from './challenges.ts'
import { contractMutants } from './contracts.ts'
import { feePayerMutants } from './fee-payers.ts'
import { healthMutants } from './health.ts'
import { journalMutants } from './journal.ts'
import { keyMutants } from './keys.ts'
import { laneMutants } from './lanes.ts'
import { lifetimeMutants } from './lifetimes.ts'
import { messageMutants } from './messages.ts'
import type { Mutant } from './mutant.ts'
import { policyMutants } from './policy.ts'
import { replicaMutants } from './replicas.ts'
import { requestMutants } from './requests.ts'
import { rootKeyMutants } from './root-keys.ts'
import { screeningMutants } from './screening.ts'
import { sessionMutants } from './sessions.ts'
import { signedPaymentMutants } from './signed-payments.ts'
import { transactionMutants } from './transactions.ts'
import { unifiedBalanceMutants } from './unified-balances.ts'
import { unlistedTokenMutants } from './unlisted-tokens.ts'
import { userKeyMutants } from './user-keys.ts'
import { webhookMutants } from './webhooks.ts'

export const mutants: readonly Mutant[] = [
  ...transactionMutants,
  ...journalMutants,
  ...blockMutants,
  ...requestMutants,
  ...bookMutants,
  ...keyMutants,
  ...rootKeyMutants,
  ...userKeyMutants,
  ...challengeMutants,
  ...sessionMutants,
  ...policyMutants,
  ...screeningMutants,
  ...auditMutants,
  ...contractMutants,
  ...webhookMutants,
  ...messageMutants,
  ...unlistedTokenMutants,
  ...signedPaymentMutants,
  ...accountMutants,
  ...unifiedBalanceMutants,
  ...healthMutants,
  ...feePayerMutants,
  ...laneMutants,
  ...lifetimeMutants,
  ...replicaMutants,
]
