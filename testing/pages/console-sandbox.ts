import { rm } from 'node:fs/promises'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { openBrowser } from './browser.ts'
import { builtConsole } from './built-console.ts'
import { type ConsolePage, openConsole } from './console-page.ts'

/** A sandbox as a user starts it, and a browser for its console. */
export type ConsoleSandbox = {
  program: Program
  dataDir: string
  open(options?: Parameters<typeof openConsole>[2]): Promise<ConsolePage>
  /** Closes the pages that were opened, and returns everything that they did wrong. */
  closePages(): Promise<string[]>
  close(): Promise<void>
}

export async function openConsoleSandbox(chains: string): Promise<ConsoleSandbox> {
  await builtConsole()
  const dataDir = await initializedDirectory()
  const [program, browser] = await Promise.all([
    startProgram({ dataDir, args: ['--chains', chains] }),
    openBrowser(),
  ])
  const opened: ConsolePage[] = []
  return {
    program,
    dataDir,
    async open(options = {}) {
      const page = await openConsole(browser, program.answer.url, options)
      opened.push(page)
      return page
    },
    async closePages() {
      const pages = opened.splice(0)
      for (const { context } of pages) await context.close()
      return pages.flatMap(({ complaints }) => complaints)
    },
    async close() {
      await browser.close()
      await program.killAll()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
