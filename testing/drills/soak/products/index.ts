import { batches, businessTransfers, deposits, payouts } from './business.ts'
import { messages, unified, x402 } from './crosschain.ts'
import type { Product } from './product.ts'
import { solanaTransfers, transfers } from './transfers.ts'
import { challenges, operations } from './users.ts'
import { monitors, pages } from './watching.ts'

export const products: readonly Product[] = [
  transfers,
  solanaTransfers,
  challenges,
  operations,
  deposits,
  payouts,
  businessTransfers,
  batches,
  x402,
  messages,
  unified,
  monitors,
  pages,
]
