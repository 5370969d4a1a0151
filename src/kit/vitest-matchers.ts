/** The matchers for Vitest: `setupFiles: ['bezant/testing/vitest/matchers']`. */
import { expect } from 'vitest'
import { passThrough } from './pass-through.ts'

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the declaration of Vitest has this parameter
  interface Matchers<T = any> {
    /** Whether a timeline entered these states in this order, whatever other states it had between them. */
    toPassThrough(...states: string[]): T
  }
}

expect.extend({ toPassThrough: passThrough })
