import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import ts from 'typescript'

/** The files of the kit that tests and runners import. */
export const kitEntries = ['testing', 'vitest', 'vitest-matchers', 'jest', 'jest-matchers']
/** Jest loads CommonJS. */
const required = ['testing', 'jest', 'jest-matchers']

const sourceOf = (name: string) => join('src', 'kit', `${name}.ts`)

/** Bundles what Jest requires beside the modules, and writes the declarations of all entries. */
export async function buildKit(outdir: string): Promise<void> {
  await build({
    entryPoints: required.map(sourceOf),
    outdir: join(outdir, 'kit'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  })
  await writeDeclarations(outdir)
}

/**
 * Writes each declaration twice, for modules and for CommonJS. They import each other by the names of the compiled files, and
 * nothing else of this package.
 */
async function writeDeclarations(outdir: string): Promise<void> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, process.cwd())
  const program = ts.createProgram(kitEntries.map(sourceOf), {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    outDir: outdir,
    rootDir: 'src',
    tsBuildInfoFile: undefined as unknown as string,
  })
  const written: string[] = []
  program.emit(undefined, (path, text, mark) => {
    written.push(path)
    ts.sys.writeFile(path, text, mark)
  })
  for (const path of written) {
    const text = await readFile(path, 'utf8')
    if (/['"]#/.test(text)) throw new Error(`${path} imports what only this package can resolve`)
    for (const form of ['', 'c'])
      await writeFile(path.replace(/ts$/, `${form}ts`), text.replace(/(from '\..*)\.ts'/g, `$1.${form}js'`))
  }
}
