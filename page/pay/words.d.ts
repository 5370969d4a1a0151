import type { Words } from './all-words.js'
import type { PaymentData } from './view.js'

export function titleOf(data: PaymentData, words: Words): string
