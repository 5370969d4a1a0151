import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/*.test.js'],
    globalSetup: ['bezant/testing/vitest'],
    setupFiles: ['bezant/testing/vitest/matchers'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
