/** The parts of the page that the server needs; browsers load the page as it is. */

import type { Language, Words } from './all-words.js'

/** A way to pay, as far as its code shows it. */
export type PaymentMethod = { chain: string; address: string; paymentUri?: string }

/** The answer of `GET /page/payments/{token}`. */
export type PaymentData = { stage: string; paymentMethods: readonly PaymentMethod[] }

/** A part of the page: a text, or an element. */
export type Piece = string | { tag: string; attributes: Record<string, string>; children: readonly Piece[] }

/** `language` is that of the words, and `lang` the one that the link names. */
type Choice = {
  path: string
  chain?: string | undefined
  of?: string | undefined
  lang?: Language | undefined
  language: Language
  words: Words
}

export function view(data: PaymentData, options: Choice): Piece[]
export function methodOf(data: PaymentData, options: Pick<Choice, 'chain'>): PaymentMethod | undefined
export function problemView(name: 'unknown' | 'unavailable', words: Words): Piece[]
