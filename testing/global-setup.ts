import type { TestProject } from 'vitest/node'
import { startRunServer } from './run-server.ts'
import { openTemporaryDirectory } from './temporary-directory.ts'

declare module 'vitest' {
  interface ProvidedContext {
    runServer: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeDirectory = await openTemporaryDirectory()
  const { url, stop } = await startRunServer(process.env['DATABASE_URL'] || undefined)
  project.provide('runServer', url)
  return async () => {
    await stop()
    await removeDirectory()
  }
}
