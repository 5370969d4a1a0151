import { serverOfRun, setServerOfRun } from './environment.ts'
import { startServer } from './server-process.ts'

/** Starts the server of a test run before its test processes, and returns a function that ends it. */
export async function startRun(): Promise<() => Promise<void>> {
  // Another project of the same run was here before.
  if (serverOfRun() !== undefined) return async () => undefined
  const server = await startServer()
  setServerOfRun(server.url)
  return async () => {
    setServerOfRun(undefined)
    await server.stop()
  }
}
