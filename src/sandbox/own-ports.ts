import type { Config } from '#runtime/config'
import { apiAddress, pageAddress, requirePort } from '#runtime/http/port'
import { runningUrl } from './nodes-file.ts'

/**
 * Checks that a sandbox could listen now, which takes milliseconds, before anything is started. Returns the address of the sandbox
 * that holds one of the ports where that one runs on the same directory; throws for any other program.
 */
export async function checkPorts(config: Config): Promise<string | undefined> {
  try {
    await requirePort(apiAddress(config))
    await requirePort(pageAddress(config))
    return undefined
  } catch (error) {
    const url = await runningUrl(config.dataDir)
    const ports = [apiAddress(config), pageAddress(config)].map(({ port }) => String(port))
    if (url === undefined || !ports.includes(new URL(url).port)) throw error
    return url
  }
}
