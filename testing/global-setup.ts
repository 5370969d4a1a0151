import type { TestProject } from 'vitest/node'
import { startDatabaseServer } from './database-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startDatabaseServer(process.env['DATABASE_URL'] || undefined)
  project.provide('databaseServer', url)
  return stop
}
