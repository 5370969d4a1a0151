import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Locked = { version?: string; license?: string; link?: boolean } & Partial<
  Record<'dev' | 'devOptional' | 'optional' | 'peer', boolean>
>

/**
 * Packs what is published of the tagged version into `release/`: the package, its bill of materials (CycloneDX), the licences of what it installs,
 * and the sums of these files. Returns their names.
 */
export function packRelease(root: string, report: (text: string) => void): string[] {
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  requireTagged(run, `v${version}`)
  const folder = join(root, 'release')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  report('building and packing')
  run('npm', ['pack', '--silent', '--pack-destination', folder])
  report('listing what it installs')
  const base = `${name}-${version}`
  writeFileSync(join(folder, `${base}.cdx.json`), billOfMaterials(root))
  writeFileSync(join(folder, `${base}.licences.md`), licencesOf(root))
  const names = readdirSync(folder).sort()
  const sums = names.map((file) => `${sumOf(join(folder, file))}  ${file}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  return [...names, 'SHA256SUMS'].map((file) => join('release', file))
}

function requireTagged(run: (program: string, args: readonly string[]) => string, tag: string): void {
  if (run('git', ['status', '--porcelain']).trim() !== '')
    throw new Error('the working tree has changes: commit them, or pack a clean clone')
  const tags = run('git', ['tag', '--points-at', 'HEAD']).split('\n')
  if (!tags.includes(tag)) throw new Error(`this commit has no tag ${tag}: git tag -s ${tag}`)
}

/** The packages that an installation has, optional ones included, as the lock file has them (CycloneDX 1.5). */
export const billOfMaterials = (root: string): string =>
  execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })

/** A table of the packages that an installation has, with their licences. Optional ones are those that a server leaves out. */
export function licencesOf(root: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  const rows = Object.entries(packages)
    .filter(([path, { dev, devOptional, peer, link }]) => path && !(dev || devOptional || peer || link))
    .map(([path, { version, license, optional }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return `| ${name} | ${version} | ${license ?? 'none stated'} | ${optional ? 'yes' : ''} |\n`
    })
  return `| Package | Version | Licence | Optional |\n| --- | --- | --- | --- |\n${[...new Set(rows)].sort().join('')}`
}

const sumOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
