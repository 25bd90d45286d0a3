-- Goes through the interpreter's corners: closures, metatables, coroutines, errors, patterns, sorting, the collector.
local function section(name) print("-- " .. name) end

section("numbers")
print(7 // 2, -7 // 2, 7 % -3, 2 ^ 10, 1 / 3, 0x7fffffffffffffff + 1, 3 | 4 ~ 1, 1 << 62 >> 3)
print(math.type(1), math.type(1.0), math.tointeger(3.0), string.format("%5.2f|%-6d|%x|%q", 3.14159, 42, 255, "a\nb"))

section("strings")
for key, value in string.gmatch("depth=12, stone=slate, open=yes", "(%w+)=(%w+)") do io.write(key, ":", value, " ") end
print(("quarry"):rep(3, "-"):gsub("r+", function(r) return "<" .. #r .. ">" end))
print(string.pack("<i4z", 1234, "end"):byte(1, -1))
print(utf8.char(233, 8364, 128512), utf8.len("é€"))

section("tables")
local words = {}
for word in ("the quick brown fox jumps over the lazy dog again and again"):gmatch("%a+") do words[#words + 1] = word end
table.sort(words, function(a, b) return #a < #b or (#a == #b and a < b) end)
print(table.concat(words, " "), select("#", table.unpack(words)))

section("metatables")
local Vector = {}
Vector.__index = Vector
Vector.__add = function(a, b) return setmetatable({x = a.x + b.x, y = a.y + b.y}, Vector) end
Vector.__tostring = function(v) return "(" .. v.x .. ", " .. v.y .. ")" end
Vector.__close = function() print("closed") end
do
    local sum <close> = setmetatable({x = 1, y = 2}, Vector) + setmetatable({x = 3, y = 4}, Vector)
    print(tostring(sum))
end

section("coroutines")
local function primes(limit)
    return coroutine.wrap(function()
        for n = 2, limit do
            local prime = true
            for d = 2, math.floor(n ^ 0.5) do
                if n % d == 0 then prime = false; break end
            end
            if prime then coroutine.yield(n) end
        end
    end)
end
local found = {}
for p in primes(200) do found[#found + 1] = p end
print(#found, found[#found])

section("errors")
print(select(2, pcall(function() error({code = 7}) end)).code)
print(select(2, pcall(function() local t; return t.x end)))
print(xpcall(function() error("deep", 2) end, function(message) return "handled " .. message end))
print(load("return 1 +"))
local function deeper(n) return 1 + deeper(n + 1) end
print((select(2, pcall(deeper, 1)):gsub("^.*(stack overflow).*$", "%1")))

section("collector")
local weak = setmetatable({}, {__mode = "v"})
for i = 1, 2000 do weak[i] = {i} end
collectgarbage()
print(#weak, next(weak))
local n = 0
for i = 1, 20000 do n = (n * 31 + i) % 1000003 end
print(n)
goto done
print("never")
::done::
os.exit(17)
