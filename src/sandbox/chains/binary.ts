import { accessSync, chmodSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Returns the path of the node's binary in its platform package, so that it works where install scripts did not run.
 * Throws an Error that names the remedy when this platform's package is absent.
 */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@foundry-rs/anvil-${platform}-${architectures[arch] ?? arch}`
  let manifest: string
  try {
    const require = createRequire(import.meta.url)
    manifest = resolveFrom(require, name)
  } catch {
    throw new Error(
      `Local chains need the package ${name}, which is not installed. Run "npm install --include=optional @foundry-rs/anvil"; ` +
        'if npm finds no such package, this platform has no local node: use "bezant serve" with the RPC URLs of your own.',
    )
  }
  const path = join(dirname(manifest), 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')
  makeExecutable(path)
  return path
}

/** Resolves the platform package, a dependency of @foundry-rs/anvil that need not be hoisted beside us. */
function resolveFrom(require: NodeJS.Require, name: string): string {
  try {
    return require.resolve(`${name}/package.json`)
  } catch {
    return createRequire(require.resolve('@foundry-rs/anvil/package.json')).resolve(`${name}/package.json`)
  }
}

function makeExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK)
  } catch (cause) {
    try {
      chmodSync(path, 0o755)
    } catch {
      throw new Error(
        `The local node ${path} cannot be run. Run "chmod +x ${path}" as the owner of that file.`,
        {
          cause,
        },
      )
    }
  }
}
