/** A database server as docs/operate.md asks for one where money is: with TLS, passwords, checksums and an archive. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openServerTls } from '#sandbox/tls'
import { quietPort } from '#testing/processes/quiet-port'
import { serverHome, serverUser } from './system-postgres.ts'

export type ServerForm = { settings: readonly string[]; asksPasswords: boolean; hasChecksums: boolean }

export type KeptServer = {
  port: number
  /** The certificate that its clients trust. */
  certificate: string
  /** Stops the server, and starts it again in another form. */
  become(form: ServerForm): void
  close(): void
}

/** The password of `postgres`. */
export const adminPassword = 'of-the-administrator'

/** Opens a server with programs of this folder, on loopback. */
export async function openKeptServer(folder: string, form: ServerForm): Promise<KeptServer> {
  const home = serverHome('bezant-kept-')
  const user = { ...serverUser(), cwd: home, stdio: 'ignore' as const }
  const run = (program: string, ...args: string[]) => void execFileSync(join(folder, program), args, user)
  const give = (path: string) => {
    if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid)
  }
  const write = (name: string, text: string) => {
    const path = join(home, name)
    writeFileSync(path, text, { mode: 0o600 })
    give(path)
    return path
  }
  const port = await quietPort()
  const tls = await openServerTls(home, '127.0.0.1', Date.now())
  const certificate = write('server.crt', tls.cert)
  mkdirSync(join(home, 'archive'), { mode: 0o700 })
  give(join(home, 'archive'))
  write('password', adminPassword)
  const encoding = ['-E', 'UTF8', '--locale=C.UTF-8', '-N']
  run('initdb', '-D', 'data', '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile=password', '-k', ...encoding)
  const fixed = [
    `port = ${port}`,
    `listen_addresses = '127.0.0.1'`,
    `unix_socket_directories = '${home}'`,
    'ssl = on',
    `ssl_cert_file = '${certificate}'`,
    `ssl_key_file = '${write('server.key', tls.key)}'`,
    `hba_file = '${home}/hba.conf'`,
  ]
  const start = ({ settings, asksPasswords }: ServerForm) => {
    write('hba.conf', `host all all 127.0.0.1/32 ${asksPasswords ? 'scram-sha-256' : 'trust'}\n`)
    write('data/postgresql.conf', [...fixed, ...settings, ''].join('\n'))
    run('pg_ctl', '-D', 'data', '-l', 'log', '-w', 'start')
  }
  const stop = () => run('pg_ctl', '-D', 'data', '-m', 'fast', '-w', 'stop')
  start(form)
  let hasChecksums = true
  return {
    port,
    certificate,
    become: (next) => {
      stop()
      if (next.hasChecksums !== hasChecksums)
        run('pg_checksums', next.hasChecksums ? '--enable' : '--disable', '-D', 'data')
      hasChecksums = next.hasChecksums
      start(next)
    },
    close: () => {
      stop()
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
