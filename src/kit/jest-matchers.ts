/** The matchers for Jest: `setupFilesAfterEnv: ['bezant/testing/jest/matchers']`. */
import { passThrough } from './pass-through.ts'

declare global {
  namespace jest {
    interface Matchers<R> {
      /** Whether a timeline entered these states in this order, whatever other states it had between them. */
      toPassThrough(...states: string[]): R
    }
  }
}

type Extended = { expect: { extend(matchers: Record<string, typeof passThrough>): void } }

;(globalThis as unknown as Extended).expect.extend({ toPassThrough: passThrough })
