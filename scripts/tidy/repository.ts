import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

export type SourceFile = { path: string; text: string; lines: string[] }

export type Repository = {
  root: string
  /** Every file that is or could be committed, as text. */
  files: SourceFile[]
  matching: (pattern: RegExp) => SourceFile[]
  exists: (path: string) => boolean
}

/** A rule checks the whole repository and returns its violations, as `path:line reason`. */
export type Rule = { name: string; why: string; check: (repository: Repository) => string[] }

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

export function readRepository(): Repository {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  })
  const paths = listed
    .toString('utf8')
    .split('\n')
    .filter((path) => path && existsSync(join(root, path)))
  const texts = paths.filter((path) => /\.(ts|js|mjs|svelte|json|md|sql|sol|html|css|ya?ml)$/.test(path))
  const files = texts.map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, text, lines: text.split('\n') }
  })
  return {
    root,
    files,
    matching: (pattern) => files.filter((file) => pattern.test(file.path)),
    exists: (path) => existsSync(join(root, path)),
  }
}

export type Import = { line: number; target: string }

const importPattern =
  /^\s*(?:import|export)\s+[^'"]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|import\('([^']+)'\)/gm

/** The imports of a file; targets inside the repository are paths from its root, others are package names. */
export function importsOf(file: SourceFile): Import[] {
  return [...file.text.matchAll(importPattern)].map((match) => ({
    line: file.text.slice(0, match.index).split('\n').length,
    target: resolveTarget(file.path, (match[1] ?? match[2] ?? match[3])!),
  }))
}

function resolveTarget(from: string, target: string): string {
  if (target.startsWith('.')) return normalize(join(dirname(from), target))
  if (target.startsWith('#testing/')) return `${target.slice(1)}.ts`
  if (target.startsWith('#')) return `src/${target.slice(1)}.ts`
  return target
}
