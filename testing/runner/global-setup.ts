import type { TestProject } from 'vitest/node'
import { startRunServer } from './run-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    runServer: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startRunServer(
    process.env['DATABASE_URL'] || undefined,
    process.env['BEZANT_TEST_DISTRIBUTED_URL'] || undefined,
  )
  project.provide('runServer', url)
  return stop
}
