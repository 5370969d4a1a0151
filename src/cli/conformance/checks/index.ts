import type { CheckGroup } from '../world.ts'
import { access } from './access.ts'
import { businessAccount } from './business.ts'
import { contracts } from './contracts.ts'
import { crosschain } from './crosschain.ts'
import { errors } from './errors.ts'
import { collections } from './lists.ts'
import { signatures } from './signatures.ts'
import { transfers } from './transfers.ts'
import { userWallets } from './users.ts'
import { developerWallets } from './wallets.ts'
import { webhookSubscriptions } from './webhooks.ts'

/** In the order in which they run: what the first of them make is in the lists of a later one. */
export const checkGroups: readonly CheckGroup[] = [
  access,
  developerWallets,
  signatures,
  transfers,
  userWallets,
  contracts,
  businessAccount,
  crosschain,
  webhookSubscriptions,
  collections,
  errors,
]
