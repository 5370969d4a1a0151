import type { TestProject } from 'vitest/node'
import { startRunServer } from './run-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    runServer: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startRunServer()
  project.provide('runServer', url)
  return stop
}
