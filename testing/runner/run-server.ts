/**
 * Shares expensive resources between all files of a test run, in the main process of the run. Workers ask over loopback
 * HTTP: `POST /databases/empty` or `/seeded` copies a template, `POST /databases/NAME` copies a database without
 * connections, `DELETE /databases/NAME` drops it, `GET /programs` compiles the programs that tests start, and `GET
 * /data-directory` returns a used data directory to copy.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveDatabases } from '#testing/databases/test-databases'
import { compilePrograms, type ProgramFiles } from '#testing/processes/compile-programs'
import { makeInitializedDirectory } from '#testing/processes/initialized-directory'
import { openTemporaryDirectory } from '#testing/processes/temporary-directory'

export type RunServer = { url: string; stop(): Promise<void> }

/**
 * Makes the temporary directory of the run, and starts nothing but a listener: databases and programs are made when the first
 * test asks for one.
 */
export async function startRunServer(): Promise<RunServer> {
  const removeDirectory = await openTemporaryDirectory()
  const databases = serveDatabases(process.env['DATABASE_URL'] || undefined, {
    distributedUrl: process.env['BEZANT_TEST_DISTRIBUTED_URL'] || undefined,
    isPartitioned: process.env['TEST_PARTITIONED'] === '1',
  })
  let compiling: Promise<ProgramFiles> | undefined
  let using: Promise<string> | undefined
  const programs = () => (compiling ??= compilePrograms())
  const used = () => (using ??= programs().then(({ bezant }) => makeInitializedDirectory(bezant)))
  const answer = async (method: string | undefined, path: string) => {
    const [, kind, name = ''] = path.split('/')
    if (kind === 'programs') return programs()
    if (kind === 'data-directory') return used()
    return method === 'DELETE' ? databases.drop(name) : databases.copy(name)
  }
  const listener = createServer((request, response) => {
    answer(request.method, request.url ?? '').then(
      (result) => response.end(JSON.stringify(result ?? {})),
      (error: Error) => response.writeHead(500).end(String(error.stack)),
    )
  }).listen(0, '127.0.0.1')
  // A busy run closes a connection late, when a test sends its next request on it.
  listener.keepAliveTimeout = 0
  await new Promise((resolve) => listener.once('listening', resolve))
  const stop = async () => {
    listener.close()
    listener.closeAllConnections()
    await databases.stop().finally(removeDirectory)
  }
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, stop }
}
