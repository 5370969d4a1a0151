/** A token of SoftHSM, a PKCS #11 module in software, with AES keys. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const module = '/usr/lib/softhsm/libsofthsm2.so'

/** Whether this machine has SoftHSM: `apt-get install softhsm2`. */
export const hasSoftHsm = () => existsSync(module)

export type SoftHsm = {
  /** The environment of processes that use it. */
  env: { SOFTHSM2_CONF: string }
  pin: string
  /** The setting that names a key by its label or id. */
  serviceOf(key: string): string
  importKey(label: string, id: string): Promise<void>
  close(): Promise<void>
}

export async function openSoftHsm(): Promise<SoftHsm> {
  const home = await mkdtemp(join(tmpdir(), 'bezant-hsm-'))
  const conf = join(home, 'softhsm2.conf')
  await mkdir(join(home, 'tokens'))
  await writeFile(conf, `directories.tokendir = ${join(home, 'tokens')}\nobjectstore.backend = file\n`)
  const env = { SOFTHSM2_CONF: conf }
  const pin = String(randomBytes(3).readUIntBE(0, 3) + 10_000_000)
  const run = (...args: string[]) =>
    execFileSync('softhsm2-util', args, { env: { ...process.env, ...env }, stdio: 'pipe' })
  run('--init-token', '--free', '--label', 'bezant test', '--pin', pin, '--so-pin', '98765432')
  return {
    env,
    pin,
    serviceOf: (key) => `pkcs11:token=bezant%20test;${key}?module-path=${module}`,
    importKey: async (label, id) => {
      const file = join(home, 'key')
      // The tool ends a key at its first zero or line feed, so its 32 bytes are letters and digits.
      await writeFile(file, randomBytes(16).toString('hex'))
      run('--import', file, '--aes', '--token', 'bezant test', '--pin', pin, '--label', label, '--id', id)
      await rm(file)
    },
    close: () => rm(home, { recursive: true, force: true }),
  }
}
