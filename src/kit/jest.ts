/** The set-up of Jest: `globalSetup: 'bezant/testing/jest'`. What it starts ends with Jest, so there is nothing to tear down. */
import { startRun } from './start-run.ts'

export default async (): Promise<void> => {
  await startRun()
}
