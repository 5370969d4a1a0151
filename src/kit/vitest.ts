/** The set-up of Vitest: `globalSetup: ['bezant/testing/vitest']`. Each test file then gets its sandbox within a second or two. */
import { startRun } from './start-run.ts'

export default (): Promise<() => Promise<void>> => startRun()
